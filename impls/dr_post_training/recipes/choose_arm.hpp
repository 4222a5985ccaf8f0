// An arm that chooses its constraint set: every so many steps each set is judged by target rows it
// does not see, and the arm of the best one trains until the next time.
#pragma once

#include <string>
#include <vector>

#include "impls/dr_post_training/policy/partition.hpp"
#include "impls/dr_post_training/recipes/arms.hpp"

namespace assay::dr_post_training {

/// A set and a partition, and the arm that trains by them.
struct Candidate {
    std::string arm;
    SetKind set;
    Partition partition;
};
const std::vector<Candidate>& candidates();

/// Steps between two choices, and batches of general rows that one looks at.
constexpr std::int64_t choose_every = 25, choose_batches = 4;

/// The gain of a set is how far a step of length 1 goes in the direction of a target row that was
/// left out when it was made (policy/plan.hpp), here over all given target rows and several
/// batches, as a share of the target gradient's length. The choice falls on the largest sum of
/// gains since the start, of equal ones on the first candidate.
std::unique_ptr<Arm> make_choose_arm(const SftSettings&, const nn::Decoder&, const SftRows&,
                                     std::uint64_t seed, double rate, Tuning* tuning);

}  // namespace assay::dr_post_training
