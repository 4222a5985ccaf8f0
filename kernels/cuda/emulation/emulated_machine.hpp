// The Machine of device/launches.hpp that runs kernels in the emulation, at once.
#pragma once

#include <stdexcept>
#include <vector>

#include "kernels/cuda/device/launches.hpp"
#include "kernels/cuda/emulation/emulator.hpp"

namespace assay::kernels::cuda {

class EmulatedMachine {
  public:
    EmulatedMachine(int multiprocessors, std::uint64_t seed)
        : emulator_(seed), device_{multiprocessors}, counters_(cuda::counters, 0) {}

    const Device& device() const { return device_; }
    Device& device() { return device_; }
    int* counters() { return counters_.data(); }
    const std::vector<int>& all_counters() const { return counters_; }

    template <class... Parameters>
    void launch(void (*kernel)(Parameters...), const Launch& launch,
                const std::type_identity_t<std::remove_const_t<Parameters>>&... parameters) {
        refuse_impossible(launch);
        ++launches;
        emulator_.launch(
            {launch.x, launch.y, launch.z}, launch.threads, launch.memory_bytes,
            [&] { kernel(parameters...); }, side_by_side);
    }

    /// As Emulator::kernel_before().
    void kernel_before(std::function<void()> rest) { emulator_.kernel_before(std::move(rest)); }

    int launches = 0;
    int side_by_side = 1;  ///< blocks that run at a time

  private:
    /// What every GPU from sm_80 on refuses, too; sm_86 has the least memory.
    static void refuse_impossible(const Launch& launch) {
        constexpr int most_beside = 65535, most_threads = 1024;
        constexpr std::size_t most_memory = 99 * 1024;
        if (launch.x < 1 || launch.y < 1 || launch.z < 1 || launch.y > most_beside ||
            launch.z > most_beside || launch.threads < lanes || launch.threads > most_threads ||
            launch.threads % lanes != 0 || launch.memory_bytes > most_memory)
            throw std::logic_error("no GPU can launch this");
    }

    Emulator emulator_;
    Device device_;
    std::vector<int> counters_;
};

}  // namespace assay::kernels::cuda
