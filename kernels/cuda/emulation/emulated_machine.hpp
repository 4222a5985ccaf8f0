// The Machine of device/launches.hpp that runs kernels in the emulation, at once.
#pragma once

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
        ++launches;
        emulator_.launch(
            {launch.x, launch.y, launch.z}, launch.threads, launch.memory_bytes,
            [&] { kernel(parameters...); }, side_by_side);
    }

    int launches = 0;
    int side_by_side = 1;  ///< blocks that run at a time

  private:
    Emulator emulator_;
    Device device_;
    std::vector<int> counters_;
};

}  // namespace assay::kernels::cuda
