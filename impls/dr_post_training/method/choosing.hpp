// The policy's sets and partitions, as selecting maps ask for them.
#pragma once

#include <string>
#include <vector>

#include "impls/dr_post_training/method/selecting_maps.hpp"
#include "impls/dr_post_training/policy/partition.hpp"
#include "impls/dr_post_training/policy/sets/constraint_set.hpp"

namespace assay::dr_post_training {

/// "all", "layer3", "layer3/attention" (or "layer3/ffn") or "layer3/up": which maps choose
/// together. What lies outside the layers stands alone but in global.
std::string group_of(Partition, const nn::Place&);

/// The update of a set for what a group saw. Throws SetRefused.
Update update_of(SetKind, const SetSettings&, const std::vector<double>& shares,
                 const GroupStatistics&);

/// Options for a set and a partition: who chooses, and what of it must be known.
SelectingOptions options_for(Partition, SetKind);

/// Weights of the rows of a subset: shares over their sum. Ascending numbers of rows.
Update subset_update(std::vector<std::size_t> rows, const std::vector<double>& shares);

}  // namespace assay::dr_post_training
