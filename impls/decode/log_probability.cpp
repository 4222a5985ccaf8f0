#include "impls/decode/log_probability.hpp"

#include <algorithm>
#include <cmath>

namespace assay::decode {

double log_probability(std::span<const float> logits, int token) {
    const float most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += static_cast<double>(std::exp(logit - most));
    return static_cast<double>(logits[static_cast<std::size_t>(token)]) -
           static_cast<double>(most) - std::log(sum);
}

}  // namespace assay::decode
