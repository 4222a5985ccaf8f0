// Memory read in order with plain C++.
#include "kernels/cpu/read_stream.hpp"
#include "kernels/cpu/vectors_portable.hpp"

namespace assay::kernels {

std::uint32_t portable_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Portable>(from, bytes);
}

}  // namespace assay::kernels
