// Fig. 13: how long DeepSeek-V3 takes to train on clusters of hundreds of GPUs whose nodes fail by
// the hour, by the policies of live trainings in virtual time.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/simulated/training.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::lazarus {
namespace {

constexpr int gpus_per_node = 8, replicas_per_gpu = 4;  // section 6.7
constexpr int min_replicas = 2, rebalance_every = 200;  // section 6.1
constexpr double join_wait_s = 120;                     // section 6.4
constexpr double longest_lazarus_h = 400;
constexpr double creation_s = 45;  // of an instance: Bamboo's simulator
constexpr const char* cluster = "lazarus-simulation";

enum class LeftOver { dropped, waiting };
ASSAY_NAMES(LeftOver, dropped, waiting)

struct Fig13 {
    double failure = 0, skew = 0, storage = 0, relaunch_s = 120;
    int gpus = 0, batch = 4, layers = 2;
    std::int64_t checkpoint_every = 0, samples = 5'000'000, most_times = 17;
    LeftOver left_over{};
    Deal deal{};
    std::string system;
    std::uint64_t seed = 1;
    Case axes;  ///< all of them: what tells the jobs of a session apart
    std::filesystem::path shared;

    int nodes() const { return gpus / gpus_per_node; }
};

struct Fig13Found : Metrics {
    using Metrics::Metrics;
    Metric jct_over_lazarus = varying(
        "jct_over_lazarus", "ratio",
        "time to train, over Lazarus' under the same faults; at least that where finished is 0",
        lower);
    Metric jct_h =
        varying("jct_h", "h", "time to train; where finished is 0, until it was given up", lower);
    Metric finished = varying("finished", "bool", "0: it was given up", higher);
    Metric checkpoint_every = varying("checkpoint_every", "count", "steps between checkpoints");
    Metric restarts =
        varying("restarts", "count", "returns to a checkpoint after nodes were lost", lower);
    Metric reconfigurations = varying("reconfigurations", "count", "plans put into force");
    Metric deaths = varying("deaths", "count", "nodes lost");
    Metric mean_nodes_used =
        varying("mean_nodes_used", "count", "nodes that train, over time", higher);
    Metric step_s = varying("step_s", "s", "the first step, with all nodes", lower);
    Metric share =
        varying("share", "fraction",
                "of the time: compute, checkpoint, restart, reconfiguration, lost (undone and "
                "interrupted steps, waiting for nodes)",
                none, {"part"});
    Metric state_per_gpu =
        varying("state_per_gpu", "GB",
                "weights, master weights and moments on each GPU (an H200 has 141 GB)", lower);
};

ModelledModel model_of(const Fig13& fig13) {
    ModelledModel model = modelled_model("deepseek-v3");
    model.sequences = fig13.batch;
    return model;
}

ControllerConfig controller_of(const Fig13& fig13, const CompetingSystem& system,
                               const ModelledModel& model) {
    ControllerConfig controller;
    set_system(controller, system);
    controller.layers = fig13.layers;
    controller.experts = model.experts;
    controller.slots = gpus_per_node * replicas_per_gpu;
    controller.min_replicas = system.in_groups() ? 1 : min_replicas;
    controller.steps = 1'000'000'000;
    controller.initial_workers = fig13.nodes();
    controller.join_wait_s = join_wait_s;
    controller.wait_for_nodes = true;
    controller.rebalance_every = system.in_groups() ? 0 : rebalance_every;
    if (system.in_groups()) controller.group = model.group / gpus_per_node;
    if (fig13.left_over == LeftOver::waiting) controller.surplus_waits = true;
    return controller;
}

/// Bamboo's hourly process. Instances come 45 s after they were granted.
FaultPlan faults_of(const Fig13& fig13, double hours) {
    const TraceProcess process = {.kind = TraceProcess::Kind::hourly,
                                  .nodes = fig13.nodes(),
                                  .hours = hours,
                                  .loss_per_hour = fig13.failure,
                                  .returns_vary = true,
                                  .seed = fig13.seed};
    const auto trace = generate_trace(process);
    // As many workers as nodes: nothing is mapped, names alone are drawn.
    FaultPlan plan =
        map_trace(trace, NodeMapping::delta_clamped, process.nodes, 1, fig13.seed).faults;
    std::vector<double> created_s(static_cast<std::size_t>(process.nodes), 0);  // by worker
    for (Fault& fault : plan.faults) {
        if (fault.kind != FaultKind::join) continue;
        *fault.t_s += creation_s;
        created_s.insert(created_s.end(), static_cast<std::size_t>(fault.count), *fault.t_s);
    }
    // One that is lost while it is being created comes and goes.
    for (Fault& fault : plan.faults)
        if (fault.kind == FaultKind::kill)
            fault.t_s = std::max(*fault.t_s, created_s.at(nth(*fault.rank)) + 1);
    std::stable_sort(plan.faults.begin(), plan.faults.end(),
                     [](const Fault& a, const Fault& b) { return *a.t_s < *b.t_s; });
    return plan;
}

CostModel costs_of(const Fig13& fig13) {
    ClusterProfile profile = cluster_profile(cluster);
    profile.storage_bandwidth.value = 1e9 * fig13.storage;
    profile.storage_bandwidth.source = "axis storage of the experiment";
    return CostModel(profile);
}

ModelledTraining training_of(const Fig13& fig13, const std::string& system, double hours) {
    const CompetingSystem& competing = competing_system(system);
    const ModelledModel model = model_of(fig13);
    ModelledTraining training;
    training.controller = controller_of(fig13, competing, model);
    training.modelling = {.model = model,
                          .cluster = cluster,
                          .real_layers = training.controller.layers,
                          .real_tokens = model.rows(),
                          .dispatch = dispatch_of(competing, model.group),
                          .gpus_per_worker = gpus_per_node,
                          .deal = fig13.deal,
                          .each_reads_its_own = false};
    training.routing = {.trace = fmt::format("lognormal:{}", fig13.skew),
                        .seed = fig13.seed,
                        .layers = training.controller.layers,
                        .experts = model.experts};
    training.faults = faults_of(fig13, hours);
    training.duration_s = 3600 * hours;
    training.relaunch_s = fig13.relaunch_s;
    const double per_node = double(model.sequences) * gpus_per_node;
    training.wanted_work = std::lround(std::ceil(double(fig13.samples) / per_node));
    training.keep_decisions = false;
    return training;
}

/// Young's interval (Communications of the ACM 17(9), 1974), at which writing checkpoints and
/// losing work cost least together: the square root of twice the time to write one times the time
/// between losses, in steps as long as the first.
Step youngs_interval(const Fig13& fig13, ModelledTraining training, const CostModel& costs) {
    const double losses_per_s = fig13.nodes() * fig13.failure / 3600;
    if (losses_per_s == 0) return 0;
    training.faults = {};
    training.controller.steps = 1;
    drive::EventQueue time;
    MemoryRecorder unheard;
    const auto course = simulate_training(training, costs, time, unheard);
    const double step_s = course.steps.at(0).end_s - course.steps.at(0).start_s;
    const double between_s =
        std::sqrt(2 * checkpoint_cost(costs, training.modelling) / losses_per_s);
    return std::max<Step>(1, std::lround(between_s / step_s));
}

/// As in section 6.2, systems that restart whenever a node is lost write five times as often.
Step checkpoint_every(const Fig13& fig13, const ModelledTraining& training,
                      const CostModel& costs) {
    Step often = fig13.checkpoint_every;
    if (often == 0) often = youngs_interval(fig13, training, costs);
    return training.controller.recovery == Recovery::restart ? often : 5 * often;
}

struct Job {
    SimulatedCourse course;
    double seconds = 0;
    bool finished = false;
    Step checkpoint_every = 0;
};

/// For `hours` at most.
Job job_of(const Fig13& fig13, const std::string& system, double hours, Recorder& recorder) {
    const CostModel costs = costs_of(fig13);
    ModelledTraining training = training_of(fig13, system, hours);
    training.controller.checkpoint_every = checkpoint_every(fig13, training, costs);
    drive::EventQueue time;
    Job job{simulate_training(training, costs, time, recorder)};
    job.checkpoint_every = training.controller.checkpoint_every;
    job.finished = job.course.why == all_is_trained;
    job.seconds = job.finished ? job.course.steps.back().end_s : training.duration_s;
    return job;
}

/// Weights, master weights and moments of what a GPU holds: its replicas, and its part of the rest.
double state_bytes_of_gpu(const ModelledModel& model) {
    return ModelledModel::state_bytes *
           (double(model.layers) * replicas_per_gpu * model.expert_parameters() +
            model.dense_parameters() / gpus_per_node);
}

/// Lazarus' job under the sample's faults. Throws SampleError where it does not get done.
Job lazarus_job(const Fig13& fig13, Recorder& recorder) {
    Job job = job_of(fig13, "lazarus", longest_lazarus_h, recorder);
    if (!job.finished)
        throw SampleError(SampleStatus::failed,
                          fmt::format("Lazarus did not train all samples in {} hours either: lower "
                                      "failure, or give more gpus or fewer samples",
                                      longest_lazarus_h));
    return job;
}

/// Where samples of a session that differ in their system alone leave its seconds for each other.
std::filesystem::path file_of_lazarus(const Fig13& fig13) {
    std::string differs = std::to_string(fig13.seed);
    for (const auto& [axis, value] : fig13.axes)
        differs += fmt::format(" {}={}", axis, assay::to_string(value));
    return fig13.shared / ("lazarus-" + sha256_hex(differs));
}

void leave_lazarus_seconds(const Fig13& fig13, double seconds) {
    if (fig13.shared.empty()) return;
    std::filesystem::create_directories(fig13.shared);
    const auto file = file_of_lazarus(fig13);
    const auto aside = fmt::format("{}.{}", file.string(), fig13.system);
    std::ofstream(aside) << fmt::format("{}", seconds);
    publish(aside, file);
}

double lazarus_seconds(const Fig13& fig13) {
    double seconds = 0;
    if (!fig13.shared.empty() && std::ifstream(file_of_lazarus(fig13)) >> seconds) return seconds;
    MemoryRecorder unheard;
    seconds = lazarus_job(fig13, unheard).seconds;
    leave_lazarus_seconds(fig13, seconds);
    return seconds;
}

/// A rival's, given up after `most_times` Lazarus' seconds.
Job rival_job(const Fig13& fig13, double lazarus_s, Recorder& recorder) {
    const double hours = lazarus_s / 3600 * double(fig13.most_times);
    return job_of(fig13, fig13.system, std::min(hours, longest_generated_h), recorder);
}

void run(const Fig13& fig13, Recorder& recorder) {
    const bool is_lazarus = fig13.system == "lazarus";
    double lazarus_s = is_lazarus ? 0 : lazarus_seconds(fig13);
    const Job job =
        is_lazarus ? lazarus_job(fig13, recorder) : rival_job(fig13, lazarus_s, recorder);
    if (is_lazarus) leave_lazarus_seconds(fig13, lazarus_s = job.seconds);
    const auto& course = job.course;
    const Fig13Found found(recorder);
    found.finished(job.finished);
    found.jct_h(job.seconds / 3600);
    found.jct_over_lazarus(job.seconds / lazarus_s);
    found.checkpoint_every(job.checkpoint_every);
    found.restarts(course.counts.fallbacks);
    found.reconfigurations(course.counts.reconfigurations);
    found.deaths(course.counts.deaths);
    found.mean_nodes_used(mean_workers(course.steps, job.seconds));
    if (!course.steps.empty())
        found.step_s(course.steps.front().end_s - course.steps.front().start_s);
    record_shares(course, kept_steps(course, job.seconds), job.seconds, found.share);
    found.state_per_gpu(state_bytes_of_gpu(model_of(fig13)) / 1e9);
}

nlohmann::json calibration(const Fig13& fig13) {
    return {{"costs", costs_of(fig13).to_json()},
            {"modelling", to_json(training_of(fig13, "lazarus", 1).modelling)}};
}

Experiment described(const std::string& letter, const std::string& over) {
    Experiment e;
    e.id = "lazarus/fig13" + letter;
    e.title = "DeepSeek-V3 on hundreds of GPUs: time to train, over " + over;
    e.source = "arXiv 2407.04656v2, section 6.7, Fig. 13" + letter;
    e.says =
        "How long five million sequences take, as a multiple of Lazarus' time under the same "
        "faults. Nodes are servers of 8 H200; "
        "each hour every node fails with the same probability at some second, and each missing one "
        "comes back with a probability that is drawn anew each hour (Bamboo's simulator; 45 s to "
        "create an instance, 30 s to form groups). Controllers are those of live trainings; steps, "
        "recoveries and checkpoints take what the cost model says: tensor parallelism within "
        "nodes for what is no expert, four replicas of experts per GPU, dealt within a node by "
        "the loads that its plan was made from. The paper sampled its routing from DeepSeek-V3 on "
        "ShareGPT, which is not public: "
        "here experts' loads are lognormal. Not published, hence axes: skew of the loads, "
        "bandwidth of the checkpoint store, time to launch a job anew, checkpoint interval, batch. "
        "A training that takes most_times as long as Lazarus is given up: finished is 0, and its "
        "times read 'at least'.";
    e.metrics = declared<Fig13Found>();
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::simulated};
    toy.axes = {{"failure", {0.05}},
                {"gpus", {std::int64_t{128}}},
                {"skew", {0.5}},
                {"storage", {100.0}},
                {"samples", {std::int64_t{100'000}}},
                {"layers", {std::int64_t{2}}},
                {"left_over", {}},
                {"deal", {}}};
    toy.rounds = 2;
    toy.seconds_per_sample = 0.5;
    toy.bytes_per_sample = 50e3;
    ProfilePlan paper = toy;
    paper.profile = Profile::paper;
    paper.axes = {{"left_over", {}}, {"deal", {}}};
    paper.rounds = 10;  // trials
    paper.seconds_per_sample = 3;
    paper.bytes_per_sample = 300e3;
    e.profiles = {toy, paper};
    e.figure = {Figure::Kind::lines,
                "jct_over_lazarus",
                letter == "a" ? "failure" : "gpus",
                {"skew", "storage"},
                letter == "a" ? "hourly failure probability" : "GPUs",
                "time to train over Lazarus'",
                false};
    return e;
}

Experiment fig13(const std::string& letter, const std::string& over,
                 const std::vector<double>& failures, const std::vector<int>& gpus) {
    Declaration<Fig13> fig13(described(letter, over));
    fig13.axis("failure", &Fig13::failure, "probability that a node fails within an hour", failures,
               between(0, 1));
    fig13.axis("gpus", &Fig13::gpus, "at the start and at most, 8 per node", gpus,
               between(64, 1024));
    fig13.axis("skew", &Fig13::skew,
               "standard deviation of the logarithm of experts' loads; at 0.5 the hottest of 256 "
               "has 3.8 times the mean, at 1 about 10",
               {0.5, 1.0}, between(0, 3));
    fig13.axis("storage", &Fig13::storage, "GB/s of the checkpoint store, shared by all",
               {20.0, 100.0}, between(1e-3, 1e6));
    fig13.axis("relaunch_s", &Fig13::relaunch_s, "seconds to launch a job anew, without loading",
               between(0, 1e5));
    fig13.axis("checkpoint_every", &Fig13::checkpoint_every,
               "steps between checkpoints of ds; 0: at which it loses least (Young's formula); of "
               "the others five times as many, as in section 6.2 (50 and 250)",
               between(0, 1'000'000));
    fig13.axis("batch", &Fig13::batch, "sequences per GPU and step, of 4,096 tokens",
               between(1, 1024));
    fig13.axis("samples", &Fig13::samples, "sequences to train", between(1, 1'000'000'000));
    fig13.axis("layers", &Fig13::layers,
               "layers that are planned and routed one by one; each stands for several of the 58",
               between(1, 58));
    fig13.axis("most_times", &Fig13::most_times,
               "of Lazarus' time, after which a rival is given up", between(1, 100));
    fig13.axis("left_over", &Fig13::left_over,
               "what becomes of live nodes that ds_ft has no whole group for: dropped until a "
               "restart, as section 6.1 says, or waiting for others; without -a: dropped");
    fig13.axis("deal", &Fig13::deal,
               "how a node of lazarus deals its replicas to its GPUs: history, by the loads that "
               "the plan was made from (before the first, equal ones), or blocks, in order, as the "
               "others do in any case; without -a: history");
    fig13.variants(&Fig13::system, {"lazarus", "ds_ft", "ds"});
    fig13.given(&Fig13::seed, &SampleSpec::seed);
    fig13.given(&Fig13::axes, &SampleSpec::axes);
    fig13.given(&Fig13::shared, &SampleSpec::shared);
    fig13.check([](const Fig13& settings) {
        if (settings.gpus % gpus_per_node != 0)
            throw UserError("axis gpus: nodes have 8 each, so give a multiple of 8");
    });
    fig13.calibration(calibration);
    return fig13.runs(run);
}

}  // namespace

Experiment fig13a() { return fig13("a", "hourly failure probability", {0.01, 0.05, 0.15}, {512}); }

Experiment fig13b() { return fig13("b", "cluster size", {0.05}, {256, 512, 1024}); }

}  // namespace assay::lazarus
