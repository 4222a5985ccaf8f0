// What the engines of a campaign serve: small enough for seconds, and made when it is asked for.
#pragma once

#include <cstdint>
#include <string>

#include "impls/decode/service/engine_role.hpp"

namespace assay::decode {

struct ServedModel {
    std::string name;
    int vocabulary = 0, context = 0;
    EngineModel model;  ///< weights: a number; another is other weights
};

/// Tokens by hashes; every position of the cache is looked at in every step.
ServedModel served_hashes(int vocabulary = 200, int context = 160);
/// A decoder of two layers with random weights, on the processor.
ServedModel served_decoder();

}  // namespace assay::decode
