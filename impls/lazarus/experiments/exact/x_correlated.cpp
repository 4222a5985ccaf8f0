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
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, experts = 16, slots = 6, min_replicas = 2;
constexpr const char* rack_aware = "mro_racks";

RackOf racks_of(const SampleSpec& spec) {
    const auto nodes = static_cast<std::size_t>(integer_axis(spec, "nodes"));
    const auto size = static_cast<std::size_t>(integer_axis(spec, "rack"));
    RackOf rack_of;
    for (std::size_t n = 0; n < nodes; ++n) rack_of.push_back(static_cast<int>(n / size));
    if (assay::to_string(spec.axes.at("numbering")) == "shuffled") {
        auto random = seeded_engine(spec.seed, 0, 0);
        seeded_shuffle(rack_of, random);
    }
    return rack_of;
}

void validate(const SampleSpec& spec) {
    if (integer_axis(spec, "nodes") < 2 * integer_axis(spec, "rack"))
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

void run(const SampleSpec& spec, Recorder& recorder) {
    const int nodes = static_cast<int>(integer_axis(spec, "nodes"));
    const RackOf rack_of = racks_of(spec);
    std::vector<Loads> loads = synthetic_routing(spec.seed, /*step=*/200, layers);
    for (Loads& layer : loads) layer = most_loaded(layer, experts);
    const bool aware = spec.variant == rack_aware;
    const auto policy =
        aware ? PlacementPolicy::mro : of_word<PlacementPolicy>(spec.variant).value();
    ModelPlacement plan = make_model_plan(loads, nodes, slots, min_replicas, policy).placement;
    if (aware) {
        const NodeMapping order = rack_aware_order(plan, experts, rack_of);
        for (Placement& layer : plan) layer = apply_mapping(std::move(layer), order);
    }
    recorder.metric("fatal_racks", fatal_racks(plan, experts, rack_of));
    const std::vector<double> together = exactly(by_rack(plan, rack_of)), apart = exactly(plan);
    const auto size = static_cast<std::size_t>(integer_axis(spec, "rack"));
    for (std::size_t lost = 0; lost < together.size(); ++lost) {
        const Labels labels = {{"racks_lost", static_cast<std::int64_t>(lost)}};
        recorder.metric("recovery_probability", together[lost], labels);
        recorder.metric("recovery_if_independent", apart[lost * size], labels);
    }
}

}  // namespace

Experiment x_correlated() {
    Experiment experiment;
    experiment.id = "lazarus/x_correlated";
    experiment.title = "Whole racks lost: recovery probability";
    experiment.source = "our own, beside arXiv 2407.04656v2, sections 4.1 and 6.3";
    experiment.says =
        "The paper's recovery probability takes any nodes to fail alike; here all nodes of a rack "
        "(or of a zone) are lost together. Twelve layers of sixteen experts, six slots per node, "
        "loads of our synthetic trace; every expert of every layer must survive. Nodes are "
        "numbered rack by rack, as launchers usually do, or in an order drawn from the seed. mro, "
        "spread and mro_guarded know of no racks. mro_racks is mro's plan with its nodes ordered "
        "by racks: groups of experts are overlapped on racks as experts are on nodes, so that no "
        "group stands in one rack and few combinations of racks hold one; of that, dealing nodes "
        "out and leaving them, the best for one lost rack, then for two, and so on. Exact: all "
        "sets of racks are counted. recovery_if_independent is the probability at the loss of as "
        "many nodes as these racks have, drawn from anywhere.";
    experiment.axes = {
        {"nodes",
         "nodes of the cluster",
         {std::int64_t{64}, std::int64_t{256}, std::int64_t{1024}, std::int64_t{4096}},
         false},
        {"rack",
         "nodes that fail together",
         {std::int64_t{8}, std::int64_t{32}, std::int64_t{128}},
         false},
        {"numbering", "how nodes are numbered", {"in_order", "shuffled"}, false}};
    experiment.variants = {rack_aware, "mro", "spread", "mro_guarded"};
    MetricSpec recovery;
    recovery.name = "recovery_probability";
    recovery.unit = "probability";
    recovery.says =
        "share of the sets of `racks_lost` racks whose loss leaves every expert a live replica";
    recovery.better = Direction::higher;
    recovery.deterministic = true;
    recovery.labels = {"racks_lost"};
    MetricSpec apart = recovery;
    apart.name = "recovery_if_independent";
    apart.says = "the same at as many lost nodes, each drawn by itself";
    MetricSpec fatal;
    fatal.name = "fatal_racks";
    fatal.unit = "count";
    fatal.says = "racks whose loss alone loses an expert";
    fatal.better = Direction::lower;
    fatal.deterministic = true;
    experiment.metrics = {recovery, apart, fatal};
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
    experiment.profiles = {toy, paper};
    experiment.figure.kind = Figure::Kind::lines;
    experiment.figure.metric = "recovery_probability";
    experiment.figure.x = "racks_lost";
    experiment.figure.panels = {"nodes", "rack", "numbering"};
    experiment.figure.x_title = "racks lost";
    experiment.figure.y_title = "recovery probability";
    experiment.validate = validate;
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lazarus
