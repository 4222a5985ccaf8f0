#include "kernels/cpu/streamed_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace assay::kernels {

void FreeStreamedMemory::operator()(std::byte* memory) const { std::free(memory); }

StreamedMemory allocate_streamed(std::size_t bytes) {
    constexpr std::size_t large_page = 2 * 1024 * 1024;
    const std::size_t rounded = (bytes + large_page - 1) / large_page * large_page;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(large_page, rounded));
    if (!memory) throw std::bad_alloc();
    // Only a wish: without it the memory works as well, a little slower.
    static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
    return StreamedMemory(memory);
}

}  // namespace assay::kernels
