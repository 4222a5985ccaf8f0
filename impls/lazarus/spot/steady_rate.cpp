#include "impls/lazarus/spot/steady_rate.hpp"

#include <algorithm>
#include <numeric>

#include "impls/lazarus/cost/step_timeline.hpp"
#include "impls/lazarus/policy/controller/reconfiguration.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {

std::vector<SteadyStep> steady_steps(const ModelledTraining& training, Step steps) {
    const ControllerConfig& config = training.controller;
    const auto strategy = make_strategy(config);
    const int ranks = strategy->usable(config.initial_workers);
    if (ranks == 0) throw UserError(strategy->too_few(config.initial_workers));
    std::vector<Worker> workers(static_cast<std::size_t>(ranks));
    std::iota(workers.begin(), workers.end(), 0);
    const RoutingReplay routing(training.routing);
    const auto rows = static_cast<std::int64_t>(training.modelling.real_tokens);

    Holdings holdings(config.layers, config.experts);
    std::vector<Loads> loads = uniform_loads(config.layers, config.experts);
    std::vector<SteadyStep> all;
    ModelPlacement holders;
    for (Step step = 0; step < steps; ++step) {
        const bool first = step == 0;
        if (first || (config.rebalance_every > 0 && step % config.rebalance_every == 0)) {
            holders =
                plan_reconfiguration(*strategy, workers, workers, holdings, loads, first).holders;
            holdings.assign(workers, holders);
            for (Loads& layer : loads) std::fill(layer.begin(), layer.end(), 0);
        }
        SteadyStep& now = all.emplace_back(SteadyStep{holders, {}});
        const StepRouting choices = routing.at(step);
        for (int layer = 0; layer < config.layers; ++layer) {
            const auto& tokens = now.tokens.emplace_back(choices.counts(layer, ranks, rows));
            Loads& seen = loads[static_cast<std::size_t>(layer)];
            for (std::size_t i = 0; i < tokens.size(); ++i) seen[i / workers.size()] += tokens[i];
        }
    }
    return all;
}

SteadyCost steady_cost(const CostModel& costs, const Modelling& modelling,
                       const std::vector<SteadyStep>& steps) {
    Modelling most = modelling;
    most.overlap = 1;  // then what is hidden is what can be
    SteadyCost cost;
    for (const SteadyStep& step : steps) {
        std::vector<int> devices(step.holders.front().size());
        std::iota(devices.begin(), devices.end(), 0);
        StepTimeline timeline(costs, most, {devices, {}, step.holders});
        for (std::size_t layer = 0; layer < step.tokens.size(); ++layer)
            timeline.counted(static_cast<int>(layer), step.tokens[layer]);
        const StepParts parts = timeline.parts();
        cost.sequences += double(devices.size()) * most.model.sequences * most.modelled_steps;
        cost.serial_s += parts.total() + parts.hidden_s;
        cost.hideable_s += parts.hidden_s;
    }
    return cost;
}

}  // namespace assay::lazarus
