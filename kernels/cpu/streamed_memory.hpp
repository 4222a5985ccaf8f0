// Memory for weights that are streamed: aligned to large pages and backed by them where the machine
// gives them on request, so that address translation does not limit the bandwidth.
#pragma once

#include <cstddef>
#include <memory>

namespace assay::kernels {

struct FreeStreamedMemory {
    void operator()(std::byte* memory) const;
};
using StreamedMemory = std::unique_ptr<std::byte[], FreeStreamedMemory>;

/// Uninitialised. Throws std::bad_alloc.
StreamedMemory allocate_streamed(std::size_t bytes);

}  // namespace assay::kernels
