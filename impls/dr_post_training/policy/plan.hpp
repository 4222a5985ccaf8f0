// From the inner products of gradients to the update of every group, what it does to the target,
// and which set would have served target rows it did not see.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "impls/dr_post_training/policy/partition.hpp"
#include "impls/dr_post_training/policy/sets/constraint_set.hpp"

namespace assay::dr_post_training {

struct PlanRequest {
    SetKind set = SetKind::topk;
    Partition partition = Partition::layer;
    SetSettings settings;
    bool compare = false;
};

struct PlannedGroup {
    std::vector<std::size_t> layers;  ///< by number
    std::vector<double> scores;       ///< [n]: n·w<g,v>
    Update update;
    Closeness closeness;
};

/// Over all groups.
struct PlanTotal {
    double dot = 0, norm2 = 0;
    std::optional<double> target_norm2, distance2;  ///< absent: |v| is not known
    std::optional<double> cosine;  ///< of u and v; 0 where one is 0; absent: |v| is not known
};

struct PlannedSource {
    std::string source;
    std::size_t rows = 0;
    double score = 0;            ///< mean of <g,v> over its rows
    std::optional<double> kept;  ///< share of its rows that are selected, mean over groups
    double weight = 0;           ///< the simplex', over the sources' mean gradients, all layers
};

struct ComparedSet {
    SetKind set = SetKind::full;
    Partition partition = Partition::global;
    PlanTotal total;
    /// Mean over target rows i of <u, v_i>/|u|, u from the other rows; 0 where u = 0. Absent: there
    /// is one row.
    std::optional<double> gain, gain_se;
};

struct Plan {
    PlanRequest request;
    std::size_t rows = 0, target_rows = 0;  ///< n, m
    std::vector<PlannedGroup> groups;
    PlanTotal total;
    std::vector<PlannedSource> sources;      ///< by first appearance
    std::vector<ComparedSet> compared;       ///< partitions × sets, without those that are refused
    std::optional<std::size_t> recommended;  ///< of `compared`: the first with the largest gain
};

/// Throws SetRefused (what --set asks for cannot be had).
Plan make_plan(const PlanInput& input, const PlanRequest& request);

/// The sets of one partition, compared; refused ones are left out.
std::vector<ComparedSet> compare_sets(const PlanInput& input, Partition partition,
                                      const SetSettings& settings);
/// Partitions × sets.
std::vector<ComparedSet> compare_all(const PlanInput& input, const SetSettings& settings);
/// The first whose gain is the largest, equal within equal_gains of it; none without gains.
std::optional<std::size_t> first_largest_gain(const std::vector<ComparedSet>& compared);

}  // namespace assay::dr_post_training
