#include "impls/hetermoe/policy/plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "impls/hetermoe/policy/squeeze_search.hpp"

namespace assay::hetermoe {
namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;

Fraction seconds(Nanoseconds time) { return {time, nanoseconds}; }

// T_A, T_E and X of a group.
struct GroupTimes {
    Fraction attention, expert, exchange;
};
GroupTimes times_of(const TrainingProfile& profile, const Group& group) {
    const Fraction rows(group.attention, group.expert);
    return {seconds(*profile.new_kind.attention), seconds(profile.old_kind.expert) * rows,
            seconds(profile.exchange) * std::max(Fraction(1), rows)};
}

// Of an all-reduce over so many GPUs: how many times its bytes pass a link.
Fraction ring_passes(int gpus) { return {2 * (gpus - 1), gpus}; }

// Gradients, after the step: dense ones over all attention GPUs, experts' over the groups.
Fraction sync_s(const TrainingProfile& profile, const Option& option) {
    const auto [m, n] = option.group;
    const int moved = std::accumulate(option.offload.begin(), option.offload.end(), 0);
    const Fraction expert = ring_passes(option.groups) * seconds(profile.expert_sync);
    const Fraction kept(Wide{profile.layers} * (profile.experts / n) - moved);
    return std::max(ring_passes(m * option.groups) * seconds(profile.dense_sync) +
                        expert * Fraction(Wide{moved} * n, m),
                    expert * kept);
}

Option priced(const TrainingProfile& profile, const PlanSettings& settings, const Group& group,
              int micro_batches, std::vector<int> offload) {
    Option option;
    option.group = group;
    option.groups =
        std::min(profile.new_kind.gpus / group.attention, profile.old_kind.gpus / group.expert);
    option.micro_batches = micro_batches;
    option.offload = std::move(offload);
    const TaskTimes times = task_times(profile, group, settings.backward, micro_batches);
    const StepShape step{.micro_batches = micro_batches, .offload = option.offload};
    const Ticks makespan = zebra_makespan(times, step);
    option.makespan_s = Fraction(makespan) / times.ticks_per_s;
    option.sync_s = sync_s(profile, option);
    option.per_s = Fraction(Wide{option.groups} * group.attention * micro_batches) /
                   (option.makespan_s + option.sync_s);
    option.new_busy = {busy(times, step, Queue::attention), makespan};
    option.old_busy = {busy(times, step, Queue::expert), makespan};
    return option;
}

// Whether a rate is at least the highest but for a relative 1e-9.
bool as_good_as(const Fraction& rate, const Fraction& highest) {
    // Exact numbers only where floating point does not decide: their products are long.
    const long double below = 1 - rate.long_value() / highest.long_value();
    if (below < 0.9e-9L) return true;
    if (below > 1.1e-9L) return false;
    return rate >= highest * Fraction(999'999'999, 1'000'000'000);
}

std::size_t best_of(const std::vector<Option>& options) {
    Fraction highest;
    for (const Option& option : options) highest = std::max(highest, option.per_s);
    const auto cost = [](const Option& option) {
        const auto [m, n] = option.group;
        return std::tuple(option.gpus(), m + n, m, option.micro_batches);
    };
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < options.size(); ++i)
        if (as_good_as(options[i].per_s, highest) &&
            (!best || cost(options[i]) < cost(options[*best])))
            best = i;
    return *best;
}

std::vector<PlanWarning> warnings_of(const TrainingProfile& profile, const Option& option) {
    const auto [attention, expert, exchange] = times_of(profile, option.group);
    std::vector<PlanWarning> warnings;
    if (attention >= expert) warnings.push_back(PlanWarning::attention_bound);
    if (exchange > std::min(attention, expert)) warnings.push_back(PlanWarning::exchange_bound);
    if (Fraction(option.micro_batches) * std::max(attention, expert) <
        attention + expert + exchange * Fraction(2))
        warnings.push_back(PlanWarning::few_micro_batches);
    return warnings;
}

}  // namespace

std::optional<std::vector<int>> offload_for(const TrainingProfile& profile, const Group& group,
                                            const PlanSettings& settings, int micro_batches) {
    if (profile.experts % group.expert != 0) return std::nullopt;
    const std::optional<Chunks> chunks =
        settings.asym == Asym::off ? std::nullopt : chunks_of(profile, group);
    if (!chunks) {
        if (!fits_unmoved(profile, group)) return std::nullopt;
        return std::vector<int>(static_cast<std::size_t>(profile.layers), 0);
    }
    if (chunks->least > chunks->most) return std::nullopt;
    const bool search = settings.asym == Asym::search;
    std::vector<int> moved =
        squeeze(profile, group, *chunks, search ? Asym::published : settings.asym);
    if (search)
        moved = search_squeeze(task_times(profile, group, settings.backward, micro_batches),
                               micro_batches, *chunks, moved);
    return offload_of(moved, *chunks);
}

std::optional<Rivals> rivals(const TrainingProfile& profile, const Fraction& backward) {
    const GpuKind &fresh = profile.new_kind, &old = profile.old_kind;
    if (!old.attention) return std::nullopt;
    const Fraction exposed =
        Fraction(Wide{4} * profile.layers) * seconds(profile.exchange) * profile.ep_exposed;
    const auto per_s = [&](int gpus, Nanoseconds attention, Nanoseconds expert, Nanoseconds head) {
        const Fraction forward =
            Fraction(profile.layers) * (seconds(attention) + seconds(expert)) + seconds(head);
        return gpus / ((Fraction(1) + backward) * forward + exposed).long_value();
    };
    const long double of_new = per_s(fresh.gpus, *fresh.attention, fresh.expert, fresh.head),
                      of_old = per_s(old.gpus, *old.attention, old.expert, old.head),
                      of_slower =
                          per_s(fresh.gpus + old.gpus, std::max(*fresh.attention, *old.attention),
                                std::max(fresh.expert, old.expert), std::max(fresh.head, old.head));
    return Rivals{.ep = static_cast<double>(of_slower),
                  .ep_ideal = static_cast<double>(of_new + of_old)};
}

Plan plan(const TrainingProfile& profile, const PlanSettings& settings) {
    Plan made;
    for (int m = 1; m <= profile.new_kind.gpus; ++m) {
        for (int n = 1; n <= profile.old_kind.gpus; ++n) {
            const Group group{m, n};
            std::optional<std::vector<int>> offload;
            for (const int micro_batches : profile.micro_batches) {
                if (!offload || settings.asym == Asym::search)
                    offload = offload_for(profile, group, settings, micro_batches);
                if (!offload) break;
                made.options.push_back(priced(profile, settings, group, micro_batches, *offload));
            }
            if (!offload) made.infeasible.push_back(group);
        }
    }
    if (made.options.empty())
        throw UserError(
            "no group of these GPUs holds the experts: give more old GPUs, more capacity, or a "
            "number of experts that one of their numbers divides");
    made.best = best_of(made.options);
    made.rivals = rivals(profile, settings.backward);
    made.warnings = warnings_of(profile, made.best_option());
    return made;
}

Timeline timeline_of(const TrainingProfile& profile, const PlanSettings& settings,
                     const Option& option) {
    return zebra_timeline(
        task_times(profile, option.group, settings.backward, option.micro_batches),
        {.micro_batches = option.micro_batches, .offload = option.offload});
}

}  // namespace assay::hetermoe
