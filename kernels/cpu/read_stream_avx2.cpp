// Memory read in order with AVX2, FMA and F16C.
#include "kernels/cpu/read_stream.hpp"
#include "kernels/cpu/vectors_avx2.hpp"

namespace assay::kernels {

std::uint32_t avx2_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Avx2>(from, bytes);
}

}  // namespace assay::kernels
