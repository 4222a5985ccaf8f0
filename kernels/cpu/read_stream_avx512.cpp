// Memory read in order with AVX-512.
#include "kernels/cpu/read_stream.hpp"
#include "kernels/cpu/vectors_avx512.hpp"

namespace assay::kernels {

std::uint32_t avx512_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Avx512>(from, bytes);
}

}  // namespace assay::kernels
