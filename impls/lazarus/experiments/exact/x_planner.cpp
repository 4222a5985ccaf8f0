// How long the planner takes: the paper states under 100 ms on ten nodes and under 1 s for 1,000
// GPUs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/policy/controller/reconfiguration.hpp"
#include "impls/lazarus/policy/controller/strategy.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, min_replicas = 2, repetitions = 9;

int slots_of(const SampleSpec& spec) {
    const int nodes = static_cast<int>(integer_axis(spec, "nodes"));
    const int experts = static_cast<int>(integer_axis(spec, "experts"));
    const int given = static_cast<int>(integer_axis(spec, "slots"));
    return std::max(given, (min_replicas * experts + nodes - 2) / (nodes - 1));
}

void run(const SampleSpec& sample, Recorder& recorder) {
    SampleSpec spec = sample;
    spec.axes = with_unnamed_values(x_planner(), sample);
    const int nodes = static_cast<int>(integer_axis(spec, "nodes"));
    const int experts = static_cast<int>(integer_axis(spec, "experts"));
    const std::string placement = assay::to_string(spec.axes.at("placement"));
    const ControllerConfig config{.layers = layers,
                                  .experts = experts,
                                  .slots = slots_of(spec),
                                  .min_replicas = min_replicas,
                                  .placement = of_word<PlacementPolicy>(placement).value()};
    const auto strategy = make_strategy(config);
    std::mt19937_64 random(spec.seed);
    auto held = make_model_plan(skewed_loads(layers, experts, random), nodes, config.slots,
                                min_replicas, config.placement)
                    .placement;
    for (auto& layer : held) layer.erase(layer.begin());  // the last nodes hold hot experts only
    std::vector<Worker> survivors(static_cast<std::size_t>(nodes) - 1);
    std::iota(survivors.begin(), survivors.end(), 1);
    Holdings holdings(layers, experts);
    holdings.assign(survivors, held);
    const auto loads = skewed_loads(layers, experts, random);

    std::vector<double> seconds;
    std::size_t transfers = 0;
    for (int i = 0; i < repetitions; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const Reconfigure epoch = plan_reconfiguration(*strategy, survivors, survivors, holdings,
                                                       loads, /*from_storage=*/false);
        seconds.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        transfers = epoch.transfers.size();
    }
    std::sort(seconds.begin(), seconds.end());
    recorder.metric("plan_s", seconds[repetitions / 2]);
    recorder.metric("fastest_plan_s", seconds[0]);
    recorder.metric("transfers", static_cast<double>(transfers));
}

}  // namespace

Experiment x_planner() {
    Experiment experiment;
    experiment.id = "lazarus/x_planner";
    experiment.title = "Time to plan after a failure";
    experiment.source = "arXiv 2407.04656v2, sections 4.1 and 6.3";
    experiment.says =
        "One node fails; the controller plans twelve layers anew for the survivors: allocation, "
        "MRO placement, node mapping, transfers and the sources of each, everything between what "
        "the survivors hold and the plan that is sent to them; on one core, median of nine. Loads "
        "are seeded and skewed, those after the failure have nothing to do with those before: most "
        "states move, more than under loads that drift. Six slots per node as in the paper, more "
        "where two replicas of every expert need them; profile paper is as wide as the paper's "
        "simulation, 256 experts and nodes of eight GPUs with four slots each.";
    const std::vector<Value> nodes = {std::int64_t{10}, std::int64_t{100}, std::int64_t{1000},
                                      std::int64_t{4096}};
    experiment.axes = {
        {"nodes", "nodes before the failure", nodes, false},
        {"experts",
         "experts per layer",
         {std::int64_t{8}, std::int64_t{16}, std::int64_t{64}, std::int64_t{256}},
         false},
        {"slots", "slots per node, at least", {std::int64_t{6}, std::int64_t{32}}, false},
        {"placement", "the policy", {"mro", "mro_guarded", "spread"}, false}};
    experiment.variants = {"lazarus"};
    experiment.metrics = {
        {"plan_s",
         "s",
         "time of a whole replan: twelve layers, mapping and transfers",
         Direction::lower,
         false,
         {}},
        {"fastest_plan_s",
         "s",
         "the fastest of the nine: what noise hides least",
         Direction::lower,
         false,
         {}},
        {"transfers", "count", "expert states to move", Direction::none, true, {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.seconds_per_sample = 0.5;
    // Empty: series name these only where they are not the paper's.
    toy.axes = {{"slots", {}}, {"placement", {}}};
    ProfilePlan paper = toy;
    paper.profile = Profile::paper;
    paper.axes["experts"] = {std::int64_t{256}};
    paper.axes["slots"] = {std::int64_t{32}};
    paper.seconds_per_sample = 2;
    experiment.profiles = {toy, paper};
    experiment.figure = {Figure::Kind::lines, "plan_s", "nodes", {"experts"}, "nodes",
                         "seconds to plan",   true};
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lazarus
