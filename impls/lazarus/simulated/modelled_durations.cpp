#include "impls/lazarus/simulated/modelled_durations.hpp"

#include <limits>
#include <utility>

#include "impls/lazarus/cost/step_timeline.hpp"

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
    if (priced_.epoch == plan.epoch && priced_.step == step) return priced_;
    std::vector<double> slowdowns;
    for (Worker worker : plan.training) slowdowns.push_back(slowdown(worker));
    StepTimeline timeline(costs_, training_.modelling,
                          {plan.training, std::move(slowdowns), plan.holders});
    const StepRouting routing = routing_.at(step);
    const std::size_t ranks = plan.training.size();
    priced_ = {.epoch = plan.epoch, .step = step, .seconds = 0, .loads = {}};
    for (int layer = 0; layer < training_.controller.layers; ++layer) {
        const auto tokens =
            routing.counts(layer, static_cast<int>(ranks),
                           static_cast<std::int64_t>(training_.modelling.real_tokens));
        timeline.counted(layer, tokens);
        auto& loads = priced_.loads.emplace_back(tokens.size() / ranks, 0);
        for (std::size_t i = 0; i < tokens.size(); ++i) loads[i / ranks] += tokens[i];
    }
    priced_.seconds = timeline.total();
    return priced_;
}

}  // namespace assay::lazarus
