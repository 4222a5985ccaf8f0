// Our own addition: failures that are not independent. A rack or a zone is lost as a whole, under
// placements that know of no racks and with the nodes of a plan ordered by them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/seeded_shuffle.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/policy/beyond/rack_order.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, experts = 16, slots = 6, min_replicas = 2;

enum class Plan { mro_racks, mro, spread, mro_guarded };
ASSAY_NAMES(Plan, mro_racks, mro, spread, mro_guarded)
enum class Numbering { in_order, shuffled };
ASSAY_NAMES(Numbering, in_order, shuffled)

struct XCorrelated {
    int nodes = 0, rack = 0;
    Numbering numbering{};
    Plan plan{};
    std::uint64_t seed = 0;
};

PlacementPolicy policy_of(Plan plan) {
    if (plan == Plan::mro_racks) return PlacementPolicy::mro;
    return of_word<PlacementPolicy>(word_of(plan)).value();
}

RackOf racks_of(const XCorrelated& correlated) {
    RackOf rack_of;
    for (int n = 0; n < correlated.nodes; ++n) rack_of.push_back(n / correlated.rack);
    if (correlated.numbering == Numbering::shuffled) {
        auto random = seeded_engine(correlated.seed, 0, 0);
        seeded_shuffle(rack_of, random);
    }
    return rack_of;
}

void check(const XCorrelated& correlated) {
    if (correlated.nodes < 2 * correlated.rack)
        throw UserError("axes nodes and rack: fewer than two racks; give more nodes than one rack");
}

std::vector<double> exactly(const ModelPlacement& placement) {
    // Spread across many racks, nodes numbered at random, takes some seconds to count.
    RecoveryCurve curve = recovery_probability(placement, experts, {.sweep_work = 1e9});
    if (curve.method != RecoveryMethod::exact) {
        throw SampleError(SampleStatus::unsupported,
                          "the holders of so many experts across so many racks cannot be counted "
                          "exactly; take larger racks");
    }
    return std::move(curve.probability);
}

void run(const XCorrelated& correlated, Recorder& recorder) {
    const RackOf rack_of = racks_of(correlated);
    std::vector<Loads> loads = synthetic_routing(correlated.seed, /*step=*/200, layers);
    for (Loads& layer : loads) layer = most_loaded(layer, experts);
    ModelPlacement plan =
        make_model_plan(loads, correlated.nodes, slots, min_replicas, policy_of(correlated.plan))
            .placement;
    if (correlated.plan == Plan::mro_racks) {
        const NodeMapping order = rack_aware_order(plan, experts, rack_of);
        for (Placement& layer : plan) layer = apply_mapping(std::move(layer), order);
    }
    recorder.metric("fatal_racks", fatal_racks(plan, experts, rack_of));
    const std::vector<double> together = exactly(by_rack(plan, rack_of)), apart = exactly(plan);
    const auto size = static_cast<std::size_t>(correlated.rack);
    for (std::size_t lost = 0; lost < together.size(); ++lost) {
        const Labels labels = {{"racks_lost", static_cast<std::int64_t>(lost)}};
        recorder.metric("recovery_probability", together[lost], labels);
        recorder.metric("recovery_if_independent", apart[lost * size], labels);
    }
}

MetricSpec recovery(std::string name, std::string says) {
    return {.name = std::move(name),
            .unit = "probability",
            .says = std::move(says),
            .better = Direction::higher,
            .deterministic = true,
            .labels = {"racks_lost"}};
}

std::vector<ProfilePlan> profiles() {
    ProfilePlan toy;
    toy.provenances = {Provenance::exact};
    toy.axes = {{"nodes", {std::int64_t{64}, std::int64_t{256}}},
                {"rack", {std::int64_t{8}, std::int64_t{32}}}};
    toy.seconds_per_sample = 0.3;
    toy.timeout_s = 120;
    ProfilePlan paper = toy;
    paper.profile = Profile::paper;
    paper.axes = {{"nodes", {std::int64_t{1024}, std::int64_t{4096}}},
                  {"rack", {std::int64_t{32}, std::int64_t{128}}}};
    paper.seconds_per_sample = 3;
    return {toy, paper};
}

}  // namespace

Experiment x_correlated() {
    Declaration<XCorrelated> correlated(
        {.id = "lazarus/x_correlated",
         .title = "Whole racks lost: recovery probability",
         .source = "our own, beside arXiv 2407.04656v2, sections 4.1 and 6.3",
         .says =
             "The paper's recovery probability takes any nodes to fail alike; here all nodes of a "
             "rack (or of a zone) are lost together. Twelve layers of sixteen experts, six slots "
             "per node, loads of our synthetic trace; every expert of every layer must survive. "
             "Nodes are numbered rack by rack, as launchers usually do, or in an order drawn from "
             "the seed. mro, spread and mro_guarded know of no racks. mro_racks is mro's plan with "
             "its nodes ordered by racks: groups of experts are overlapped on racks as experts are "
             "on nodes, so that no group stands in one rack and few combinations of racks hold "
             "one; of that, dealing nodes out and leaving them, the best for one lost rack, then "
             "for two, and so on. Exact: all sets of racks are counted. recovery_if_independent is "
             "the probability at the loss of as many nodes as these racks have, drawn from "
             "anywhere.",
         .metrics = {recovery("recovery_probability",
                              "share of the sets of `racks_lost` racks whose loss leaves every "
                              "expert a live replica"),
                     recovery("recovery_if_independent",
                              "the same at as many lost nodes, each drawn by itself"),
                     {.name = "fatal_racks",
                      .unit = "count",
                      .says = "racks whose loss alone loses an expert",
                      .better = Direction::lower,
                      .deterministic = true}},
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "recovery_probability",
                    .x = "racks_lost",
                    .panels = {"nodes", "rack", "numbering"},
                    .x_title = "racks lost",
                    .y_title = "recovery probability"}});
    correlated.axis("nodes", &XCorrelated::nodes, "nodes of the cluster", {64, 256, 1024, 4096});
    correlated.axis("rack", &XCorrelated::rack, "nodes that fail together", {8, 32, 128});
    correlated.axis("numbering", &XCorrelated::numbering, "how nodes are numbered");
    correlated.variants(&XCorrelated::plan);
    correlated.given(&XCorrelated::seed, &SampleSpec::seed);
    correlated.check(check);
    return correlated.runs(run);
}

}  // namespace assay::lazarus
