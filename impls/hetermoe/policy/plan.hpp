// Everything that a profile allows, priced: groups, micro-batches and offload, the best of them,
// and what expert parallelism over all GPUs would reach.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "impls/hetermoe/policy/squeeze.hpp"
#include "impls/hetermoe/policy/timeline.hpp"
#include "suite/base/describe.hpp"

namespace assay::hetermoe {

struct PlanSettings {
    Asym asym = Asym::published;
    Fraction backward{3};  ///< F: how many times longer a backward task is; above 0
};

struct Option {
    Group group;
    int groups = 0;  ///< that the GPUs suffice for, side by side
    int micro_batches = 0;
    std::vector<int> offload;  ///< experts of each layer that every expert GPU gives up
    Fraction makespan_s, sync_s;
    Fraction per_s;               ///< micro-batches of all groups, each of one attention GPU
    Fraction new_busy, old_busy;  ///< share of the makespan in which a GPU computes

    int gpus() const { return groups * (group.attention + group.expert); }
};

/// Micro-batches per second of expert parallelism over all GPUs, at the slower kind's times, and of
/// both kinds apart, added (the paper's EP and EP (Ideal)).
struct Rivals {
    double ep = 0, ep_ideal = 0;
};

/// What is to be said about the best option.
enum class PlanWarning {
    attention_bound,   ///< T_A ≥ T_E: nothing to gather; more attention GPUs would help
    exchange_bound,    ///< an exchange is longer than attention or experts: it cannot hide
    few_micro_batches  ///< too few to keep both kinds busy
};
ASSAY_NAMES(PlanWarning, attention_bound, exchange_bound, few_micro_batches)

struct Plan {
    std::vector<Option> options;    ///< ascending M, then N, then R
    std::vector<Group> infeasible;  ///< N does not divide the experts, or they do not fit
    std::size_t best = 0;           ///< fastest; within 1e-9 of it: fewest GPUs, M + N, M, R
    std::optional<Rivals> rivals;   ///< none without old_kind.attention
    std::vector<PlanWarning> warnings;

    const Option& best_option() const { return options[best]; }
};

/// Throws UserError where nothing fits, TooLargeToStayExact.
Plan plan(const TrainingProfile& profile, const PlanSettings& settings);

/// The offload of one group; nothing where its experts do not fit. `micro_batches` matters to
/// Asym::search alone.
std::optional<std::vector<int>> offload_for(const TrainingProfile& profile, const Group& group,
                                            const PlanSettings& settings, int micro_batches);

/// The tasks of a step of an option.
Timeline timeline_of(const TrainingProfile& profile, const PlanSettings& settings,
                     const Option& option);

std::optional<Rivals> rivals(const TrainingProfile& profile, const Fraction& backward);

}  // namespace assay::hetermoe
