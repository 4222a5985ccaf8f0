#include "kernels/cpu/streamed_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

namespace assay::kernels {

void FreeStreamedMemory::operator()(std::byte* memory) const { std::free(memory); }

StreamedMemory allocate_streamed(std::size_t bytes) {
    constexpr std::size_t large_page = 2 * 1024 * 1024;
    const std::size_t rounded = (bytes + large_page - 1) / large_page * large_page;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(large_page, rounded));
    if (!memory) throw std::bad_alloc();
    // What the heap had in use before lies in small pages, and would stay there.
    static_cast<void>(madvise(memory, rounded, MADV_DONTNEED));
    // Only a wish: without it the memory works as well, a little slower.
    static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
    return StreamedMemory(memory);
}

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
