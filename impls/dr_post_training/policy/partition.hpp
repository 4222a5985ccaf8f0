// Which layers choose together.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "impls/dr_post_training/policy/statistics.hpp"
#include "suite/base/describe.hpp"

namespace assay::dr_post_training {

/// global: all layers. block: those of one block. sublayer: those of one block and part. layer:
/// each for itself (specification, section 1.2). A layer without block (sublayer: or without part)
/// stands alone but in global.
enum class Partition { global, block, sublayer, layer };
ASSAY_NAMES(Partition, global, block, sublayer, layer)
inline constexpr auto partitions = values_of<Partition>;

/// Groups of layers by number, in the order of their first layers.
std::vector<std::vector<std::size_t>> groups_of(std::span<const Layer> layers, Partition);

/// The sum over a group's layers.
GramStatistics statistics_of_group(std::span<const Layer> layers,
                                   std::span<const std::size_t> group);

}  // namespace assay::dr_post_training
