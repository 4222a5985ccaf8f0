// The data of the experiments on toy models: a large general pool of which some rows help with the
// target and some contradict it, and few rows of the target itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::dr_post_training {

/// What a row of the general pool is to the target.
enum class Kind { related, contrary, other };

struct PoolRow {
    std::string prompt, answer;
    Kind kind = Kind::other;
};

/// The general pool. The rest of the shares are tasks the model knows already.
struct PoolShape {
    double relevance = 0.2;  ///< share of rows of the target's task, answered rightly
    double noise = 0.3;      ///< share of rows of the target's task, answered as another task would
};
ASSAY_FIELDS(PoolShape, relevance, noise)

/// What rows are for; words of different uses differ.
enum class Use { general, given, validation, test };

/// The target's task: "turn abc=" asks for the letters in reverse. The model knows reversing, but
/// not the word for it. Contrary rows have the letters sorted.
/// Row `number`, a function of (seed, number).
PoolRow known_row(std::uint64_t seed, std::uint64_t number);  ///< tasks of impls/rl, for a start
PoolRow general_row(const PoolShape& shape, std::uint64_t seed, std::uint64_t number);
PoolRow target_row(Use use, std::uint64_t seed, std::uint64_t number);

}  // namespace assay::dr_post_training
