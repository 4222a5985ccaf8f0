#include "impls/hetermoe/experiments/paper_experiment.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/hetermoe/emulated/emulate_arm.hpp"
#include "impls/hetermoe/experiments/on_parts.hpp"
#include "impls/hetermoe/parts/parts_point.hpp"
#include "suite/drive/simgrid/rank_flows.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::hetermoe {
namespace {

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

struct CrossingFound : ArmFound {
    using ArmFound::ArmFound;
    Metric crossing_k =
        metric({.name = "crossing_k",
                .unit = "K tokens",
                .says = "from which on attention takes as long as experts, on as many GPUs",
                .deterministic = true,
                .only = {Provenance::simulated, Provenance::emulated}});
};

Point completed(Point point, const PaperSample& sample) {
    point.calibration = sample.calibration;
    if (point.batch == 0) point.batch = sample.batch;
    point.tokens = 1024 * sample.sequence;
    take_part(point, sample.part);
    return point;
}

bool is_measured(const PaperSample& sample) { return sample.provenance == Provenance::measured; }
bool is_of_flows(const PaperSample& sample) { return sample.network == Exchanges::flows; }

std::vector<MetricSpec> metrics(const PaperVersions& versions) {
    std::vector<MetricSpec> all =
        versions.crossing ? declared<CrossingFound>() : declared<ArmFound>();
    const auto add = [&](std::vector<MetricSpec> more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    if (!versions.emulated.empty()) add(emulation_metrics());
    if (versions.on_parts_variants.empty()) return all;
    for (MetricSpec& metric : all)
        if (metric.name != "fits") metric.varies.push_back(Provenance::measured);
    add(declared<PartsFound>());
    return all;
}

std::vector<ProfilePlan> profiles(const PaperVersions& versions) {
    std::vector<ProfilePlan> profiles = exact_profiles(0.02);
    for (ProfilePlan& plan : profiles) {
        plan.provenances = {Provenance::simulated};
        plan.axes["network"] = {};
    }
    if (!versions.emulated.empty()) {
        ProfilePlan& toy = profiles.front();
        toy.provenances.push_back(Provenance::emulated);
        toy.axes_of[Provenance::emulated] = versions.emulated;
        toy.seconds_of[Provenance::emulated] = 8;
        toy.timeout_s = 300;
    }
    if (!versions.on_parts_variants.empty())
        profiles.push_back(parts_profile(versions.on_parts, versions.on_parts_variants));
    if (!versions.emulated.empty())
        for (ProfilePlan& plan : profiles) plan.axes["part"] = {};  // unnamed: the whole
    return profiles;
}

}  // namespace

void paper::describe(Experiment& figure, const PaperVersions& versions) {
    figure.says +=
        " Simulated: a step's timeline over task times by data sheets (calibration sheet) or by "
        "ratios worked out of the paper's own tables (anchored; it names what it was fitted from). "
        "All arms share batch, times and memory (expert parallelism and DistEP work on a sequence "
        "of a GPU at a time), and sum gradients behind the backward pass; the number of "
        "micro-batches, the pieces of exchanges and the deal of layers are the best of each. The "
        "paper's batch is the largest that fits every arm and is not stated: four sequences of a "
        "step for each new GPU is the largest with which HeterMoE fits every cluster of Fig. 7 at "
        "32K tokens.";
    if (!versions.on_parts_variants.empty()) figure.says += parts_say;
    if (!versions.emulated.empty()) figure.says += emulation_says;
    figure.metrics = metrics(versions);
    figure.profiles = profiles(versions);
}

Axes<PaperSample> paper::common_axes(const PaperVersions& versions) {
    Axes<PaperSample> axes;
    std::vector<Calibration> calibrations{Calibration::sheet};
    if (!versions.sheet_only) calibrations.push_back(Calibration::anchored);
    axes.axis("calibration", &PaperSample::calibration, "of task times: sheet or anchored",
              calibrations);
    if (!versions.own_batch) axes.part(batch_axis("sequences of a step for each new GPU", {4}));
    // Claims count declared values alone: of a case with flows they would have two.
    axes.axis(
        "network", &PaperSample::network,
        "exchanges: timeline, each alone on its link, or flows that share links (SimGrid; not "
        "pp, ep_uneven, balance); without -a: timeline",
        {Exchanges::timeline}, or_others);
    if (!versions.emulated.empty())
        axes.axis(
            "part", &PaperSample::part,
            "emulated: one of so many equal parts of the cluster, with as many of its experts",
            {1, 2, 3}, between(1, 64));
    axes.given(&PaperSample::provenance, &SampleSpec::provenance);
    axes.given(&PaperSample::seed, &SampleSpec::seed);
    return axes;
}

void paper::check(const PaperSample& sample, const Point& raw) {
    const Point point = completed(raw, sample);
    if (is_measured(sample)) parts_for(point);
    if (sample.provenance == Provenance::simulated && sample.part != 1)
        throw UserError("axis part: of emulated samples");
    if (!is_of_flows(sample)) return;
    if (sample.provenance != Provenance::simulated)
        throw UserError("axis network: flows are simulated");
    if (!has_flows_version(sample.arm))
        throw UserError(
            fmt::format("axis network: {} has no version with flows", to_string(sample.arm)));
}

std::optional<std::string> paper::lacks(const PaperSample& sample) {
    if (is_measured(sample)) return parts_lack(sample.arm);
    if (sample.provenance == Provenance::emulated) return emulation_lacks(sample.arm);
    return is_of_flows(sample) ? drive::flow_engine_lacks() : std::nullopt;
}

nlohmann::json paper::calibration(const PaperSample& sample, const Point& point) {
    if (is_measured(sample)) return nlohmann::json();
    nlohmann::json taken = calibration_json(completed(point, sample));
    if (is_of_flows(sample)) taken["network"] = "flows";
    return taken;
}

void paper::run(const PaperSample& sample, const Point& raw, bool crossing, Recorder& recorder) {
    Point point = completed(raw, sample);
    if (is_measured(sample)) return run_on_parts(parts_for(point), sample.arm, recorder);
    if (is_of_flows(sample))
        point.flows = std::make_shared<drive::RankFlows>(Topology(point.network),
                                                         point.new_gpus.gpus + point.old_gpus.gpus);
    const CrossingFound found(recorder);
    const auto simulated = run_arm(point, sample.arm);
    found.fits(simulated.has_value());
    if (crossing) found.crossing_k(crossing_k(point));
    if (!simulated) return;
    if (sample.provenance == Provenance::emulated)
        return emulate_arm(
            {.point = point, .arm = sample.arm, .simulated = *simulated, .seed = sample.seed},
            recorder);
    found.record(*simulated);
}

Axes<PaperSample> batch_axis(const std::string& says, const Sweep<int>& batches) {
    Axes<PaperSample> axes;
    axes.axis("batch", &PaperSample::batch, says, batches, between(1, 1024));
    return axes;
}

Axes<PaperSample> sequence_axis(const Sweep<double>& k_tokens) {
    Axes<PaperSample> axes;
    axes.axis("sequence", &PaperSample::sequence, "tokens of a sequence, in thousands (1,024)",
              k_tokens, between(0.125, 4096));
    return axes;
}

Axes<PaperSample> all_sequences() { return sequence_axis(whole({4, 8, 12, 16, 20, 24, 28, 32})); }

Axes<OnPanel> panel_axes(const std::string& says, const Sweep<std::string>& panels) {
    Axes<OnPanel> axes;
    axes.axis("panel", &OnPanel::panel, says, panels, or_others);
    axes.part(all_sequences());
    return axes;
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
