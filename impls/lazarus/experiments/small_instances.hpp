// The placement problems that are small enough to try every placement of.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct PlacementProblem {
    int nodes = 0;
    int slots = 0;  ///< per node
    Replicas replicas;

    int experts() const { return static_cast<int>(replicas.size()); }
};

/// 2 to 6 nodes, up to 3 slots per node and 12 in all, 2 to 6 experts, every ascending list of
/// replica counts: 239 problems.
std::vector<PlacementProblem> small_instances();

/// What Theorem 1 of the paper says about a problem depends on its groups of experts.
inline constexpr std::array<std::string_view, 3> problem_classes = {
    "one_group",     // no more experts than slots
    "whole_groups",  // every group gets as many nodes as its coldest expert has replicas
    "cut_group",     // the last group does not: mro_truncated()
};

/// Index into problem_classes.
std::size_t class_of(const PlacementProblem& problem);

}  // namespace assay::lazarus
