#include "impls/hetermoe/experiments/paper_experiment.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/hetermoe/emulated/emulate_arm.hpp"
#include "impls/hetermoe/experiments/on_parts.hpp"
#include "impls/hetermoe/parts/parts_point.hpp"
#include "suite/drive/simgrid/rank_flows.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

bool is_of_flows(const SampleSpec& spec) {
    const auto named = spec.axes.find("network");
    return named != spec.axes.end() && assay::to_string(named->second) == "flows";
}

// A part of the cluster with as many of the experts: every GPU has what it had.
void take_part(Point& point, int part) {
    for (int* whole : {&point.new_gpus.gpus, &point.old_gpus.gpus, &point.model.experts}) {
        if (*whole % part != 0)
            throw UserError(
                fmt::format("part {}: {} GPUs, {} GPUs and {} experts are not so many "
                            "equal parts",
                            part, point.new_gpus.gpus, point.old_gpus.gpus, point.model.experts));
    }
    for (int* whole : {&point.new_gpus.gpus, &point.old_gpus.gpus, &point.model.experts})
        *whole /= part;
}

Point point_of(const PaperExperiment& declared, const SampleSpec& spec) {
    Point point = declared.point(spec);
    if (const auto named = spec.axes.find("calibration"); named != spec.axes.end())
        point.calibration = parse_calibration(assay::to_string(named->second));
    if (point.batch == 0) point.batch = static_cast<int>(integer_axis(spec, "batch", 1, 1024));
    if (spec.axes.contains("sequence")) {
        const double k = number_axis(spec, "sequence");
        if (!(k >= 0.125 && k <= 4096))
            throw UserError("sequence: give thousands of tokens, from 0.125 to 4096");
        point.tokens = 1024 * k;
    }
    if (spec.axes.contains("part"))
        take_part(point, static_cast<int>(integer_axis(spec, "part", 1, 64)));
    return point;
}

std::string arm_of(const PaperExperiment& declared, const SampleSpec& spec) {
    return declared.arm ? declared.arm(spec) : spec.variant;
}

bool is_measured(const SampleSpec& spec) { return spec.provenance == Provenance::measured; }

void record(const ArmResult& result, Recorder& recorder) {
    recorder.metric("tokens_per_s", result.tokens_per_s);
    if (result.new_busy) recorder.metric("new_busy", *result.new_busy);
    if (result.old_busy) recorder.metric("old_busy", *result.old_busy);
    recorder.metric("micro_batches", result.micro_batches);
    recorder.metric("moved", result.moved);
}

void run(const PaperExperiment& declared, const SampleSpec& spec, Recorder& recorder) {
    Point point = point_of(declared, spec);
    const std::string arm = arm_of(declared, spec);
    if (is_measured(spec)) return measure_on_parts(point, arm, recorder);
    if (is_of_flows(spec))
        point.flows = std::make_shared<drive::RankFlows>(Topology(point.network),
                                                         point.new_gpus.gpus + point.old_gpus.gpus);
    const auto simulated = run_arm(point, arm);
    recorder.metric("fits", simulated ? 1 : 0);
    if (declared.crossing) recorder.metric("crossing_k", crossing_k(point));
    if (!simulated) return;
    switch (spec.provenance) {
        case Provenance::emulated:
            return emulate_arm(
                {.point = point, .arm = arm, .simulated = *simulated, .seed = spec.seed},
                [&](const ArmResult& result) { record(result, recorder); }, recorder);
        default:
            return record(*simulated, recorder);
    }
}

std::optional<std::string> lacks(const PaperExperiment& declared, const SampleSpec& spec) {
    const std::string arm = arm_of(declared, spec);
    if (is_measured(spec)) return parts_lack(arm);
    if (spec.provenance == Provenance::emulated) return emulation_lacks(arm);
    return is_of_flows(spec) ? drive::flow_engine_lacks() : std::nullopt;
}

std::vector<MetricSpec> metrics(const PaperExperiment& declared) {
    std::vector<MetricSpec> all{
        {"tokens_per_s", "1/s", "tokens of the batch per second of a step", Direction::higher,
         true},
        {"new_busy", "share", "of the step in which a new GPU computes", Direction::higher, true},
        {"old_busy", "share", "of the step in which an old GPU computes", Direction::higher, true},
        {"micro_batches", "count", "of a step and new GPU: the best number", Direction::none, true},
        {"moved", "share", "of all experts, those on new GPUs", Direction::none, true},
        {"fits", "bool", "whether it fits into memory", Direction::higher, true}};
    if (declared.crossing)
        all.push_back({"crossing_k",
                       "K tokens",
                       "from which on attention takes as long as experts, on as many GPUs",
                       Direction::none,
                       true,
                       {},
                       {Provenance::simulated, Provenance::emulated}});
    // Of emulated samples only what comes of time.
    for (MetricSpec& metric : all)
        if (metric.name == "tokens_per_s" || metric.name.ends_with("_busy"))
            metric.varies.push_back(Provenance::emulated);
    if (!declared.emulated.empty())
        for (MetricSpec& metric : emulation_metrics()) all.push_back(std::move(metric));
    return all;
}

}  // namespace

Experiment paper_experiment(PaperExperiment declared) {
    Experiment experiment;
    experiment.id = declared.id;
    experiment.title = declared.title;
    experiment.source = declared.source;
    experiment.says =
        declared.says +
        " Simulated: a step's timeline over task times by data sheets (calibration sheet) or by "
        "ratios worked out of the paper's own tables (anchored; it names what it was fitted from). "
        "All arms share batch, times and memory (expert parallelism and DistEP work on a sequence "
        "of "
        "a GPU at a time), and sum gradients behind the backward pass; the "
        "number of micro-batches, the pieces of exchanges and the deal of layers are the best of "
        "each. The paper's batch is the largest that fits every arm and is not stated: four "
        "sequences of "
        "a step for each new GPU is the largest with which HeterMoE fits every cluster of Fig. 7 "
        "at "
        "32K tokens.";
    if (!declared.on_parts_variants.empty()) experiment.says += parts_say;
    if (!declared.emulated.empty()) experiment.says += emulation_says;
    experiment.axes = declared.axes;
    Axis calibration{"calibration", "of task times: sheet or anchored", {"sheet"}, false};
    if (!declared.sheet_only) calibration.values.emplace_back("anchored");
    experiment.axes.push_back(std::move(calibration));
    if (!experiment.axis("batch"))
        experiment.axes.push_back(
            {"batch", "sequences of a step for each new GPU", {std::int64_t{4}}, true});
    experiment.variants = declared.variants;
    experiment.metrics = metrics(declared);
    experiment.profiles = exact_profiles(0.02);
    // Claims count declared values alone: of a case with flows they would have two.
    experiment.axes.push_back(
        {"network",
         "exchanges: timeline, each alone on its link, or flows that share links (SimGrid; not pp, "
         "ep_uneven, balance); without -a: timeline",
         {"timeline"},
         true});
    for (ProfilePlan& plan : experiment.profiles) {
        plan.provenances = {Provenance::simulated};
        plan.axes["network"] = {};
    }
    if (!declared.emulated.empty()) {
        experiment.axes.push_back({"part",
                                   "emulated: one of so many equal parts of the cluster, with as "
                                   "many of its experts",
                                   {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}},
                                   true});
        for (ProfilePlan& plan : experiment.profiles) plan.axes["part"] = {};  // unnamed: the whole
        ProfilePlan& toy = experiment.profiles.front();
        toy.provenances.push_back(Provenance::emulated);
        toy.axes_of[Provenance::emulated] = declared.emulated;
        toy.seconds_of[Provenance::emulated] = 8;
        toy.timeout_s = 300;
    }
    if (!declared.on_parts_variants.empty()) {
        ProfilePlan plan = parts_profile(declared.on_parts, declared.on_parts_variants);
        if (!declared.emulated.empty()) plan.axes["part"] = {};
        experiment.profiles.push_back(std::move(plan));
        for (MetricSpec& metric : experiment.metrics)
            if (metric.name != "fits") metric.varies.push_back(Provenance::measured);
        for (MetricSpec& metric : parts_metrics()) experiment.metrics.push_back(std::move(metric));
    }
    experiment.unsupported = [declared](const SampleSpec& spec) { return lacks(declared, spec); };
    experiment.figure = declared.figure;
    experiment.validate = [declared](const SampleSpec& spec) {
        const Point point = point_of(declared, spec);
        if (is_measured(spec)) parts_for(point);
        if (spec.provenance == Provenance::simulated && spec.axes.contains("part"))
            throw UserError("axis part: of emulated samples");
        if (const auto named = spec.axes.find("network"); named != spec.axes.end()) {
            const std::string network = assay::to_string(named->second);
            if (network != "timeline" && network != "flows")
                throw UserError(
                    fmt::format("axis network: {} is neither timeline nor flows", network));
        }
        if (!is_of_flows(spec)) return;
        if (spec.provenance != Provenance::simulated)
            throw UserError("axis network: flows are simulated");
        if (const std::string arm = arm_of(declared, spec); !has_flows_version(arm))
            throw UserError(fmt::format("axis network: {} has no version with flows", arm));
    };
    experiment.calibration = [declared](const SampleSpec& spec) {
        if (is_measured(spec)) return nlohmann::json();
        nlohmann::json taken = calibration_json(point_of(declared, spec));
        if (is_of_flows(spec)) taken["network"] = "flows";
        return taken;
    };
    experiment.run = [declared](const SampleSpec& spec, Recorder& recorder) {
        run(declared, spec, recorder);
    };
    return experiment;
}

Axis sequence_axis(std::vector<Value> k_tokens) {
    return {"sequence", "tokens of a sequence, in thousands (1,024)", std::move(k_tokens), true};
}

Axis all_sequences() {
    std::vector<Value> values;
    for (std::int64_t k = 4; k <= 32; k += 4) values.emplace_back(k);
    return sequence_axis(std::move(values));
}

Point point_on(const ModelShape& model, const std::string& network, const std::string& new_device,
               int new_gpus, const std::string& old_device, int old_gpus) {
    return {.model = model,
            .new_gpus = {.device = device_profile(new_device), .gpus = new_gpus},
            .old_gpus = {.device = device_profile(old_device), .gpus = old_gpus},
            .network = cluster_profile(network),
            .batch = 0};
}

Point panel_point(const std::string& panel) {
    const std::size_t dash = panel.find('-');
    if (dash == std::string::npos)
        throw UserError(fmt::format("panel {}: give a model and a cluster, as d1-o1", panel));
    const PaperCluster& cluster = paper_cluster(panel.substr(dash + 1));
    return point_on(model_shape(panel.substr(0, dash)), std::string(cluster.network),
                    std::string(cluster.new_device), cluster.new_gpus,
                    std::string(cluster.old_device), cluster.old_gpus);
}

Figure throughput_figure(std::vector<std::string> panels) {
    return {.kind = Figure::Kind::lines,
            .metric = "tokens_per_s",
            .x = "sequence",
            .panels = std::move(panels),
            .x_title = "thousands of tokens of a sequence",
            .y_title = "tokens per second"};
}

}  // namespace assay::hetermoe
