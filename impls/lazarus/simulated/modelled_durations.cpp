#include "impls/lazarus/simulated/modelled_durations.hpp"

#include <limits>
#include <utility>

#include "impls/lazarus/cost/ranks_of_nodes.hpp"

namespace assay::lazarus {

ModelledDurations::ModelledDurations(const CostModel& costs, const ModelledTraining& training)
    : costs_(costs),
      training_(training),
      routing_(training.routing),
      checkpoint_s_(checkpoint_cost(costs, training.modelling)) {}

double ModelledDurations::endurance() { return std::numeric_limits<double>::infinity(); }

const ReconfigurationCost& ModelledDurations::cost_of(const Reconfigure& plan) {
    if (epoch_ == plan.epoch) return cost_;
    epoch_ = plan.epoch;
    // The death, if there was one, is known by now.
    cost_ = plan.epoch == 1 ? ReconfigurationCost{}
                            : reconfiguration_cost(costs_, training_.modelling, plan, false,
                                                   training_.relaunch_s);
    return cost_;
}

const ModelledDurations::PricedStep& ModelledDurations::price(const Reconfigure& plan, Step step) {
    if (priced_epoch_ == plan.epoch && priced_step_ == step) return *newest_;
    std::vector<double> slowdowns;  // of workers
    for (Worker worker : plan.training) slowdowns.push_back(slowdown(worker));
    if (priced_epoch_ != plan.epoch || slowdowns_ != slowdowns) {
        prices_.clear();
        participants_.reset();
    }
    slowdowns_ = std::move(slowdowns);
    priced_epoch_ = plan.epoch;
    priced_step_ = step;
    const auto [known, is_new] = prices_.try_emplace(routing_.iteration_at(step));
    if (is_new) known->second = priced(plan, step);
    newest_ = &known->second;
    return *newest_;
}

const ModelledDurations::Routed& ModelledDurations::routed_by(Step step, std::size_t workers) {
    const auto key = std::pair(routing_.iteration_at(step), workers);
    if (const auto known = routed_.find(key); known != routed_.end()) return known->second;
    constexpr std::size_t most = 8;  // clusters lose a few nodes and get them back
    if (routed_.size() == most) routed_.clear();
    Routed& now = routed_[key];
    const StepRouting routing = routing_.at(step);
    const std::size_t ranks = workers * std::size_t(training_.modelling.gpus_per_worker);
    for (int layer = 0; layer < training_.controller.layers; ++layer) {
        const auto& here = now.tokens.emplace_back(
            routing.counts(layer, static_cast<int>(ranks),
                           static_cast<std::int64_t>(training_.modelling.real_tokens)));
        auto& loads = now.loads.emplace_back(here.size() / ranks, 0);
        for (std::size_t i = 0; i < here.size(); ++i) loads[i / ranks] += here[i];
    }
    return now;
}

ModelledDurations::PricedStep ModelledDurations::priced(const Reconfigure& plan, Step step) {
    const Modelling& modelling = training_.modelling;
    const Routed& routed = routed_by(step, plan.training.size());
    // A node deals its replicas once per plan, by what was known then: not by this step's loads.
    if (!participants_) {
        loads_of_plans_.erase(loads_of_plans_.begin(), loads_of_plans_.lower_bound(plan.epoch));
        participants_ =
            participants_of(plan, slowdowns_, loads_of_plans_.at(plan.epoch), costs_, modelling);
    }
    StepTimeline timeline(costs_, modelling, *participants_);
    for (std::size_t layer = 0; layer < routed.tokens.size(); ++layer)
        timeline.counted(static_cast<int>(layer), routed.tokens[layer]);
    return {.seconds = timeline.total(), .loads = routed.loads};
}

}  // namespace assay::lazarus
