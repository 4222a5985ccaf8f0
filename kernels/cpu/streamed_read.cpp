#include "kernels/cpu/streamed_read.hpp"

#include <atomic>
#include <chrono>

namespace assay::kernels {

double streamed_read_seconds(WorkerPool& pool, const InstructionSet& instructions,
                             const std::byte* memory, std::size_t bytes) {
    using Clock = std::chrono::steady_clock;
    static std::atomic<std::uint32_t> all{0};  // keeps the reading from being optimised away
    const Clock::time_point start = Clock::now();
    pool.run(static_cast<int>(bytes / streamed_read_piece), [&](int item) {
        const std::size_t at = static_cast<std::size_t>(item) * streamed_read_piece;
        all.fetch_xor(instructions.read_stream(memory + at, streamed_read_piece),
                      std::memory_order_relaxed);
    });
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace assay::kernels
