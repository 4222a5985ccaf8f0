// How long the planner takes: the paper states under 100 ms on ten nodes and under 1 s for 1,000
// GPUs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/policy/controller/reconfiguration.hpp"
#include "impls/lazarus/policy/controller/strategy.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, min_replicas = 2, repetitions = 9;

struct XPlanner {
    int nodes = 0, experts = 0, slots = 0;
    PlacementPolicy placement{};
    std::uint64_t seed = 0;
};

int slots_of(const XPlanner& planner) {
    const int least = (min_replicas * planner.experts + planner.nodes - 2) / (planner.nodes - 1);
    return std::max(planner.slots, least);
}

void run(const XPlanner& planner, Recorder& recorder) {
    const int nodes = planner.nodes, experts = planner.experts;
    const ControllerConfig config{.layers = layers,
                                  .experts = experts,
                                  .slots = slots_of(planner),
                                  .min_replicas = min_replicas,
                                  .placement = planner.placement};
    const auto strategy = make_strategy(config);
    std::mt19937_64 random(planner.seed);
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

std::vector<ProfilePlan> profiles() {
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
    return {toy, paper};
}

}  // namespace

Experiment x_planner() {
    Declaration<XPlanner> planner(
        {.id = "lazarus/x_planner",
         .title = "Time to plan after a failure",
         .source = "arXiv 2407.04656v2, sections 4.1 and 6.3",
         .says = "One node fails; the controller plans twelve layers anew for the survivors: "
                 "allocation, "
                 "MRO placement, node mapping, transfers and the sources of each, everything "
                 "between what "
                 "the survivors hold and the plan that is sent to them; on one core, median of "
                 "nine. Loads "
                 "are seeded and skewed, those after the failure have nothing to do with those "
                 "before: most "
                 "states move, more than under loads that drift. Six slots per node as in the "
                 "paper, more "
                 "where two replicas of every expert need them; profile paper is as wide as the "
                 "paper's "
                 "simulation, 256 experts and nodes of eight GPUs with four slots each.",
         .variants = {"lazarus"},
         .metrics = {{.name = "plan_s",
                      .unit = "s",
                      .says = "time of a whole replan: twelve layers, mapping and transfers",
                      .better = Direction::lower},
                     {.name = "fastest_plan_s",
                      .unit = "s",
                      .says = "the fastest of the nine: what noise hides least",
                      .better = Direction::lower},
                     {.name = "transfers",
                      .unit = "count",
                      .says = "expert states to move",
                      .deterministic = true}},
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "plan_s",
                    .x = "nodes",
                    .panels = {"experts"},
                    .x_title = "nodes",
                    .y_title = "seconds to plan",
                    .log_y = true}});
    planner.axis("nodes", &XPlanner::nodes, "nodes before the failure", {10, 100, 1000, 4096});
    planner.axis("experts", &XPlanner::experts, "experts per layer", {8, 16, 64, 256});
    planner.axis("slots", &XPlanner::slots, "slots per node, at least", {6, 32});
    planner.axis("placement", &XPlanner::placement, "the policy",
                 {PlacementPolicy::mro, PlacementPolicy::mro_guarded, PlacementPolicy::spread});
    planner.given(&XPlanner::seed, &SampleSpec::seed);
    return planner.runs(run);
}

}  // namespace assay::lazarus
