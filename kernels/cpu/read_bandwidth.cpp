#include "kernels/cpu/read_bandwidth.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/streamed_memory.hpp"
#include "kernels/cpu/streamed_read.hpp"

namespace assay::kernels {

double measured_read_bandwidth(int threads, int megabytes) {
    const std::size_t wanted = static_cast<std::size_t>(std::max(megabytes, 1)) * 1'000'000;
    const std::size_t bytes =
        (wanted + streamed_read_piece - 1) / streamed_read_piece * streamed_read_piece;
    const StreamedMemory memory = allocate_streamed(bytes);
    std::memset(memory.get(), 1, bytes);

    WorkerPool pool(threads);
    const InstructionSet& instructions = instruction_set(widest_vectors(processor_bits()));
    const auto pass = [&] {
        return streamed_read_seconds(pool, instructions, memory.get(), bytes);
    };
    pass();
    std::array<double, 9> seconds{};
    for (double& taken : seconds) taken = pass();
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return static_cast<double>(bytes) / seconds[seconds.size() / 2];
}

}  // namespace assay::kernels
