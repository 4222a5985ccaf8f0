#include "impls/dr_post_training/policy/plan.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "impls/dr_post_training/policy/sets/group_solver.hpp"
#include "impls/dr_post_training/policy/sources.hpp"

namespace assay::dr_post_training {
namespace {

struct Group {
    std::vector<std::size_t> layers;
    GroupSolver solver;
    TargetDirection target;  ///< of all target rows

    Group(std::vector<std::size_t> its_layers, const PlanInput& input)
        : layers(std::move(its_layers)),
          solver(statistics_of_group(input.layers, layers),
                 row_weights(input.tokens, input.rows())),
          target(target_direction(solver.statistics())) {}
};

std::deque<Group> groups_with_solvers(const PlanInput& input, Partition partition) {
    std::deque<Group> groups;
    for (auto& layers : groups_of(input.layers, partition))
        groups.emplace_back(std::move(layers), input);
    return groups;
}

/// Sums closeness over groups.
class Totals {
  public:
    void add(const Closeness& one, const TargetDirection& target) {
        total_.dot += one.dot;
        total_.norm2 += one.norm2;
        if (one.distance2 && total_.distance2)
            *total_.distance2 += *one.distance2;
        else
            total_.distance2.reset();
        if (target.norm2 && total_.target_norm2)
            *total_.target_norm2 += *target.norm2;
        else
            total_.target_norm2.reset();
    }
    PlanTotal total() const {
        PlanTotal total = total_;
        if (total.norm2 <= 0 || (total.target_norm2 && *total.target_norm2 <= 0))
            total.cosine = 0;
        else if (total.target_norm2)
            total.cosine = total.dot / std::sqrt(total.norm2) / std::sqrt(*total.target_norm2);
        return total;
    }

  private:
    PlanTotal total_{.dot = 0, .norm2 = 0, .target_norm2 = 0, .distance2 = 0, .cosine = {}};
};

/// <u, v_i>/|u| over all groups for each target row, u made without it.
std::vector<double> gains(std::deque<Group>& groups, SetKind set, const SetSettings& settings) {
    const std::size_t m = groups.front().solver.statistics().target_rows();
    std::vector<double> gains;
    for (std::size_t i = 0; i < m; ++i) {
        double gain = 0, norm2 = 0;
        for (Group& group : groups) {
            const TargetDirection others = target_direction(group.solver.statistics(), i);
            const Update update = group.solver.update(set, settings, others);
            gain += group.solver.gain_on(update, i);
            norm2 += group.solver.closeness(update, others).norm2;
        }
        gains.push_back(norm2 > 0 ? gain / std::sqrt(norm2) : 0);
    }
    return gains;
}

void put_gains(const std::vector<double>& gains, ComparedSet& compared) {
    const double m = static_cast<double>(gains.size());
    double mean = 0, squares = 0;
    for (const double gain : gains) mean += gain / m;
    for (const double gain : gains) squares += (gain - mean) * (gain - mean);
    compared.gain = mean;
    compared.gain_se = std::sqrt(squares / (m - 1)) / std::sqrt(m);
}

ComparedSet compare_set(std::deque<Group>& groups, SetKind set, Partition partition,
                        const SetSettings& settings) {
    ComparedSet compared{.set = set, .partition = partition};
    Totals totals;
    for (Group& group : groups) {
        const Update update = group.solver.update(set, settings, group.target);
        totals.add(group.solver.closeness(update, group.target), group.target);
    }
    compared.total = totals.total();
    if (groups.front().solver.statistics().target_rows() > 1)
        put_gains(gains(groups, set, settings), compared);
    return compared;
}

}  // namespace

std::vector<ComparedSet> compare_sets(const PlanInput& input, Partition partition,
                                      const SetSettings& settings) {
    std::vector<ComparedSet> compared;
    auto groups = groups_with_solvers(input, partition);
    for (const SetKind set : set_kinds) {
        try {
            compared.push_back(compare_set(groups, set, partition, settings));
        } catch (const SetRefused&) {
            // It cannot be had: it is not compared.
        }
    }
    return compared;
}

std::vector<ComparedSet> compare_all(const PlanInput& input, const SetSettings& settings) {
    std::vector<ComparedSet> compared;
    // A model of one block has equal groups in several partitions.
    std::map<std::vector<std::vector<std::size_t>>, std::vector<ComparedSet>> known;
    for (const Partition partition : partitions) {
        const auto [found, is_new] = known.try_emplace(groups_of(input.layers, partition));
        if (is_new) found->second = compare_sets(input, partition, settings);
        for (ComparedSet one : found->second) {
            one.partition = partition;
            compared.push_back(one);
        }
    }
    return compared;
}

std::optional<std::size_t> first_largest_gain(const std::vector<ComparedSet>& compared) {
    double most = 0, scale = 0;
    bool any = false;
    for (const ComparedSet& one : compared) {
        if (!one.gain) continue;
        most = any ? std::max(most, *one.gain) : *one.gain;
        scale = std::max(scale, std::abs(*one.gain));
        any = true;
    }
    for (std::size_t i = 0; any && i < compared.size(); ++i)
        if (compared[i].gain && *compared[i].gain >= most - equal_gains * scale) return i;
    return std::nullopt;
}

Plan make_plan(const PlanInput& input, const PlanRequest& request) {
    Plan plan{.request = request,
              .rows = input.rows(),
              .target_rows = input.target_rows(),
              .groups = {},
              .total = {},
              .sources = {},
              .compared = {},
              .recommended = {}};
    Totals totals;
    for (Group& group : groups_with_solvers(input, request.partition)) {
        PlannedGroup planned;
        planned.scores = group.solver.scores(group.target);
        planned.update = group.solver.update(request.set, request.settings, group.target);
        planned.closeness = group.solver.closeness(planned.update, group.target);
        totals.add(planned.closeness, group.target);
        planned.layers = std::move(group.layers);
        plan.groups.push_back(std::move(planned));
    }
    plan.total = totals.total();
    if (!input.sources.empty()) plan.sources = plan_sources(input, plan.groups);
    if (request.compare) {
        plan.compared = compare_all(input, request.settings);
        plan.recommended = first_largest_gain(plan.compared);
    }
    return plan;
}

}  // namespace assay::dr_post_training
