#include "impls/decode/sampling.hpp"

#include <cmath>

#include "suite/base/error.hpp"

namespace assay::decode {

void check(const Sampling& sampling) {
    if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
        throw UserError("the temperature must be 0 (greedy) or a positive number");
    if (sampling.top_k < 0) throw UserError("top-k must be 0 (all tokens) or a positive number");
    if (!(sampling.top_p > 0 && sampling.top_p <= 1))
        throw UserError("top-p must be above 0 and at most 1");
}

}  // namespace assay::decode
