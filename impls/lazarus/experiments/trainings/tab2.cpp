// Table 2: several of ten nodes are lost at once. How many expert states travel is exact, over
// every way to lose so many nodes; how long it takes is emulated, by paced workers that are really
// killed.
#include "impls/lazarus/experiments/experiments.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/experiments/trainings/tab2.hpp"
#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {
namespace {

constexpr int nodes = 10, slots = 6, min_replicas = 2, layers = 12;
constexpr const char* cluster = "lazarus-testbed";

// Calls `visit` with every choice of `lost` of the ten nodes: dead[node].
template <class Visit>
void for_each_loss(int lost, Visit visit) {
    std::vector<bool> dead(nodes, false);
    std::fill(dead.begin(), dead.begin() + lost, true);
    do visit(dead);
    while (std::prev_permutation(dead.begin(), dead.end()));
}

void count(const Tab2& tab2, Recorder& recorder) {
    const int experts = tab2.experts(), lost = tab2.lost();
    const auto loads = model_loads(tab2.trace, tab2.seed, tab2.step, layers, experts);
    const auto before =
        make_model_plan(loads, nodes, slots, min_replicas, PlacementPolicy::mro).placement;
    const auto after =
        make_model_plan(loads, nodes - lost, slots, min_replicas, PlacementPolicy::mro).placement;
    std::vector<double> transfers;
    long unrecoverable = 0;
    for_each_loss(lost, [&](const std::vector<bool>& dead) {
        ModelPlacement held(layers);
        for (std::size_t layer = 0; layer < held.size(); ++layer)
            for (std::size_t node = 0; node < dead.size(); ++node)
                if (!dead[node]) held[layer].push_back(before[layer][node]);
        if (!recoverable(held, experts)) {
            ++unrecoverable;
            return;
        }
        transfers.push_back(
            static_cast<double>(plan_transfers(held, map_layers(held, after)).size()));
    });
    std::sort(transfers.begin(), transfers.end());
    const Tab2Found found(recorder);
    found.loss_sets(transfers.size(), {{"kind", "recoverable"}});
    found.loss_sets(unrecoverable, {{"kind", "unrecoverable"}});
    if (transfers.empty()) return;
    std::map<double, double> sets_by_transfers;
    for (double count : transfers) ++sets_by_transfers[count];
    for (const auto& [count, so_many] : sets_by_transfers)
        found.victim_sets(so_many, {{"transfers", static_cast<std::int64_t>(count)}});
    found.transfers(transfers.front(), {{"over_sets", "min"}});
    found.transfers(transfers[transfers.size() / 2], {{"over_sets", "median"}});
    found.transfers(transfers.back(), {{"over_sets", "max"}});
}

bool is_exact(const Tab2& tab2) { return tab2.provenance == Provenance::exact; }

std::optional<std::string> unsupported(const Tab2& tab2) {
    if (auto missing = missing_trace(tab2.trace)) return missing;
    return is_exact(tab2) ? std::nullopt : lose_workers.lacks();
}

std::vector<Input> inputs(const Tab2& tab2) {
    std::vector<Input> files = trace_inputs(tab2.trace);
    if (is_exact(tab2)) return files;
    for (Input& text : lose_workers.inputs()) files.push_back(std::move(text));
    return files;
}

void run(const Tab2& tab2, Recorder& recorder) {
    if (is_exact(tab2)) return count(tab2, recorder);
    lose_workers(tab2, routing_source(tab2.trace), tensors::training_text(), recorder);
}

nlohmann::json calibration(const Tab2& tab2) {
    if (is_exact(tab2)) return nullptr;
    return CostModel(cluster_profile(cluster)).to_json();
}

Experiment described() {
    Experiment e;
    e.id = "lazarus/tab2";
    e.title = "Several nodes lost at once: states moved and time taken";
    e.source = "arXiv 2407.04656v2, section 6.3, Table 2";
    e.says =
        "Ten nodes, six slots, twelve layers planned for the loads at a training step; 2, 3, 4 or "
        "5 nodes are lost (as in the table). Exact samples count the expert states that travel, "
        "over every way to lose so many nodes after which nothing is lost for good; the paper does "
        "not name its victims. Emulated samples kill that many of ten paced workers, drawn from "
        "the seed, and give the modelled times of detection, regrouping and transfers beside the "
        "machine's own. Detection and regrouping are assumptions of the cluster profile, taken "
        "from the paper's own ranges: only the transfer time is a prediction.";
    e.variants = {"lazarus"};
    e.metrics = declared<Tab2Found>();
    ProfilePlan toy;
    toy.provenances = {Provenance::exact, Provenance::emulated};
    toy.seconds_per_sample = 5;
    toy.timeout_s = 300;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    e.profiles = {toy, small};
    e.figure = {Figure::Kind::bars,    "transfers", "over_sets", {"trace", "model", "step"}, "",
                "expert states moved", false};
    return e;
}

}  // namespace

Experiment tab2() {
    Declaration<Tab2> tab2(described());
    tab2.axis("model", &Tab2::model, "8 or 16 experts per layer", {"gpt-s", "gpt-l"});
    tab2.axis("step", &Tab2::step, "training step whose loads are planned for", {200, 4000});
    tab2.axis("trace", &Tab2::trace, "routing trace", {"smartmoe", "synthetic"});
    tab2.given(&Tab2::provenance, &SampleSpec::provenance);
    tab2.given(&Tab2::seed, &SampleSpec::seed);
    tab2.given(&Tab2::scratch, &SampleSpec::scratch);
    tab2.unsupported(unsupported);
    tab2.inputs(inputs);
    tab2.calibration(calibration);
    return tab2.runs(run);
}

}  // namespace assay::lazarus
