#include "impls/hetermoe/policy/controller/pace.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "suite/measure/statistics/quantile.hpp"

namespace assay::hetermoe {
namespace {

Nanoseconds nanoseconds(double seconds) {
    return std::max<Nanoseconds>(1, std::llround(seconds * 1e9));
}

}  // namespace

RankPace pace_of(const ComputedTimes& computed, const Layout& layout, int experts) {
    // Experts' tasks in units of those of a profile: k·P rows through all experts of a GPU.
    const double m = layout.group.attention, n = layout.group.expert;
    const double moved = std::accumulate(layout.offload.begin(), layout.offload.end(), 0) * n;
    const double kept = layout.layers() * static_cast<double>(experts) - moved;
    const double batches = layout.micro_batches;
    RankPace pace;
    pace.attention_s = computed.attention_s / (batches * layout.layers());
    if (kept > 0) pace.old_expert_s = computed.expert_s / (batches * kept) * experts * n / m;
    if (moved > 0) pace.new_expert_s = computed.moved_s / (batches * moved) * experts;
    return pace;
}

std::vector<Event> PaceWatch::step_done(const CommittedStep& step,
                                        const std::vector<ComputedTimes>& ranks) {
    if (step.epoch != epoch_) {
        epoch_ = step.epoch;
        window_.clear();
        return {};
    }
    std::vector<RankPace> paces;
    for (const auto& computed : ranks) paces.push_back(pace_of(computed, step.layout, experts_));
    window_.push_back(std::move(paces));
    if (window_.size() < static_cast<std::size_t>(settings_.window)) return {};
    const RankPace now = slowest();
    window_.pop_front();
    if (!profiled_) {
        profiled_ = now;
        window_.clear();
        return {Profiled{profiled(now)}};
    }
    std::vector<Event> events;
    if (const auto slow = changed(true, now.attention_s, profiled_->attention_s))
        events.push_back(*slow);
    if (const auto slow = changed(false, now.old_expert_s, profiled_->old_expert_s))
        events.push_back(*slow);
    if (!events.empty()) window_.clear();
    return events;
}

RankPace PaceWatch::slowest() const {
    RankPace slowest;
    for (std::size_t rank = 0; rank < window_.front().size(); ++rank) {
        const auto usual = [&](double RankPace::*time) {
            std::vector<double> times;
            for (const auto& step : window_) times.push_back(step[rank].*time);
            return statistics::median(times);
        };
        for (const auto time :
             {&RankPace::attention_s, &RankPace::old_expert_s, &RankPace::new_expert_s})
            slowest.*time = std::max(slowest.*time, usual(time));
    }
    return slowest;
}

StageTimes PaceWatch::profiled(const RankPace& pace) const {
    const auto in_proportion = [](Nanoseconds known, Nanoseconds planned, Nanoseconds wanted) {
        return nanoseconds(static_cast<double>(known) / static_cast<double>(planned) *
                           static_cast<double>(wanted) * 1e-9);
    };
    StageTimes times = planned_;
    times.attention = nanoseconds(pace.attention_s);
    times.old_expert = pace.old_expert_s > 0 ? nanoseconds(pace.old_expert_s)
                                             : in_proportion(times.attention, planned_.attention,
                                                             planned_.old_expert);
    times.new_expert = pace.new_expert_s > 0 ? nanoseconds(pace.new_expert_s)
                                             : in_proportion(times.old_expert, planned_.old_expert,
                                                             planned_.new_expert);
    if (planned_.old_attention > 0)
        times.old_attention =
            in_proportion(times.attention, planned_.attention, planned_.old_attention);
    return times;
}

std::optional<Slow> PaceWatch::changed(bool new_kind, double pace_s, double profiled_s) {
    if (pace_s <= 0 || profiled_s <= 0) return std::nullopt;  // it had nothing to do
    const auto same = [&](double factor) {
        return factor < settings_.hysteresis && factor > 1 / settings_.hysteresis;
    };
    double& said = new_kind ? new_factor_ : old_factor_;
    double factor = pace_s / profiled_s;
    if (same(factor / said)) return std::nullopt;
    if (same(factor)) factor = 1;
    if (factor == said) return std::nullopt;
    said = factor;
    return Slow{new_kind, factor};
}

}  // namespace assay::hetermoe
