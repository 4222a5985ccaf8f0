// The loops with AVX-512 and int8 dot products (VNNI).
#include "impls/decode/cpu/vectors_512.hpp"

namespace assay::decode {

extern const Loops vnni_loops;
const Loops vnni_loops = loops_of<Vnni>("avx512-vnni");

}  // namespace assay::decode
