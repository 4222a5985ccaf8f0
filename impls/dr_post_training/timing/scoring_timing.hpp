// What scoring the rows of one linear map takes: time, against its matrix products alone, and
// memory.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

#include "impls/dr_post_training/policy/costs.hpp"

namespace assay::dr_post_training {

struct ScoringCase {
    std::int64_t outputs = 0, inputs = 0;
    std::int64_t n = 8, m = 1, tokens = 128;
    std::int64_t compressed_outputs = 64, compressed_inputs = 64;
    std::uint64_t seed = 1;
    int repeats = 45;
    at::Device device = at::kCPU;
    at::ScalarType type = at::kFloat;
};

struct ScoringMeasured {
    double seconds = 0;        ///< median
    double over_products = 0;  ///< of its matrix products into memory that is there: median ratio
    std::int64_t peak_bytes = 0;  ///< that it allocates at a time
};

/// Random numbers as traffic. Scores and products take turns.
ScoringMeasured measure_scoring(Scoring, const ScoringCase&);

}  // namespace assay::dr_post_training
