// How likely a token is under logits.
#pragma once

#include <span>

namespace assay::decode {

/// ln of the softmax's entry `token`: nats, at most 0.
double log_probability(std::span<const float> logits, int token);

}  // namespace assay::decode
