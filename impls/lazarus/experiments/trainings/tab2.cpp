// Table 2: several of ten nodes are lost at once. How many expert states travel is exact, over
// every way to lose so many nodes; how long it takes is emulated, by paced workers that are really
// killed.
#include "impls/lazarus/experiments/experiments.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {
namespace {

constexpr int nodes = 10, slots = 6, min_replicas = 2, layers = 12;
constexpr const char* cluster = "lazarus-testbed";

struct Row {
    int experts, lost;
};

Row row_of(const SampleSpec& spec) {
    const bool large = assay::to_string(spec.axes.at("model")) == "gpt-l";
    const bool late = integer_axis(spec, "step") == 4000;
    return {large ? 16 : 8, large ? (late ? 5 : 4) : (late ? 3 : 2)};
}

// Calls `visit` with every choice of `lost` of the ten nodes: dead[node].
template <class Visit>
void for_each_loss(int lost, Visit visit) {
    std::vector<bool> dead(nodes, false);
    std::fill(dead.begin(), dead.begin() + lost, true);
    do visit(dead);
    while (std::prev_permutation(dead.begin(), dead.end()));
}

void record_counts(const SampleSpec& spec, Recorder& recorder) {
    const auto [experts, lost] = row_of(spec);
    const auto step = integer_axis(spec, "step");
    const auto loads = model_loads(spec, step, layers, experts);
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
    const auto sets = [&](const char* kind, double count) {
        recorder.metric("loss_sets", count, {{"kind", std::string(kind)}});
    };
    sets("recoverable", static_cast<double>(transfers.size()));
    sets("unrecoverable", static_cast<double>(unrecoverable));
    if (transfers.empty()) return;
    std::map<double, double> sets_by_transfers;
    for (double count : transfers) ++sets_by_transfers[count];
    for (const auto& [count, so_many] : sets_by_transfers)
        recorder.metric("victim_sets", so_many, {{"transfers", static_cast<std::int64_t>(count)}});
    const auto transferred = [&](const char* which, double count) {
        recorder.metric("transfers", count, {{"over_sets", std::string(which)}});
    };
    transferred("min", transfers.front());
    transferred("median", transfers[transfers.size() / 2]);
    transferred("max", transfers.back());
}

std::optional<std::string> unsupported(const SampleSpec& spec) {
    if (auto missing = missing_trace(spec)) return missing;
    if (spec.provenance == Provenance::exact) return std::nullopt;
    return tensors::lacks(tensors::Needs::text);
}

std::vector<Input> inputs(const SampleSpec& spec) {
    std::vector<Input> files = trace_inputs(spec);
    if (spec.provenance == Provenance::exact) return files;
    for (Input& text : tensors::inputs_of(tensors::Needs::text)) files.push_back(std::move(text));
    return files;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    if (spec.provenance == Provenance::exact) return record_counts(spec, recorder);
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text_file) {
        tensors.run_tab2(spec, row_of(spec).lost, integer_axis(spec, "step"), routing_source(spec),
                         text_file, recorder);
    });
}

nlohmann::json calibration(const SampleSpec& spec) {
    if (spec.provenance == Provenance::exact) return nullptr;
    return CostModel(cluster_profile(cluster)).to_json();
}

}  // namespace

Experiment tab2() {
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
    e.axes = {{"model", "8 or 16 experts per layer", {"gpt-s", "gpt-l"}, false},
              {"step",
               "training step whose loads are planned for",
               {std::int64_t{200}, std::int64_t{4000}},
               false},
              {"trace", "routing trace", {"smartmoe", "synthetic"}, false}};
    e.variants = {"lazarus"};
    const auto metric = [&](std::string name, std::string unit, std::string says, Direction better,
                            bool deterministic, std::vector<std::string> labels = {}) {
        // Counts over all sets of victims carry labels; what one set of real kills brings does not.
        const Provenance only = labels.empty() ? Provenance::emulated : Provenance::exact;
        e.metrics.push_back({std::move(name),
                             std::move(unit),
                             std::move(says),
                             better,
                             deterministic,
                             std::move(labels),
                             {only}});
    };
    metric("transfers", "count",
           "expert states moved: least, median, most over the sets of victims", Direction::lower,
           true, {"over_sets"});
    metric("victim_sets", "count",
           "recoverable sets of victims, by the expert states that then travel", Direction::none,
           true, {"transfers"});
    metric("loss_sets", "count", "sets of victims after which training recovers from peers, or not",
           Direction::none, true, {"kind"});
    metric("recovered", "bool", "1: from peers; 0: from a checkpoint", Direction::higher, true);
    metric("states_moved", "count", "expert states that travelled", Direction::lower, true);
    metric("reconfiguration_s", "s", "modelled: detection, regrouping and transfers",
           Direction::lower, true);
    metric("transfer_s", "s", "modelled: transfers alone", Direction::lower, true);
    metric("real_detect_s", "s", "the machine's own: from the kills to the supervisor knowing",
           Direction::lower, false);
    metric("real_regroup_s", "s", "the machine's own: plan, new group and transfers",
           Direction::lower, false);
    ProfilePlan toy;
    toy.provenances = {Provenance::exact, Provenance::emulated};
    toy.seconds_per_sample = 5;
    toy.timeout_s = 300;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    e.profiles = {toy, small};
    e.figure = {Figure::Kind::bars,    "transfers", "over_sets", {"trace", "model", "step"}, "",
                "expert states moved", false};
    e.unsupported = unsupported;
    e.inputs = inputs;
    e.calibration = calibration;
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
