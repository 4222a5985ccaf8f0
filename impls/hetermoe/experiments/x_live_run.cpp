#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <numeric>

#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/session.hpp"
#include "impls/hetermoe/live/worker.hpp"
#include "impls/hetermoe/tensor_functions.hpp"
#include "suite/drive/recording.hpp"

namespace assay::hetermoe {
namespace {

bool is(const SampleSpec& spec, const char* axis, const char* value) {
    const auto found = spec.axes.find(axis);
    return found != spec.axes.end() && std::get<std::string>(found->second) == value;
}

SessionOptions options_of(const SampleSpec& spec, const std::filesystem::path& corpus) {
    const auto integer = [&](const char* axis) {
        return static_cast<int>(integer_axis(spec, axis));
    };
    SessionOptions options;
    auto& controller = options.controller;
    controller.layers = integer("layers");
    controller.experts = integer("experts");
    controller.group = {integer("new"), integer("old")};
    controller.groups = integer("groups");
    controller.micro_batches = integer("micro_batches");
    controller.chunks = integer("chunks");
    controller.steps = integer("steps");
    controller.checkpoint_every = integer("checkpoint_every");
    controller.squeeze = is(spec, "replan", "on");
    controller.times.old_attention = controller.times.attention;  // workers are alike
    if (controller.squeeze) options.pace = PaceSettings{};
    auto& training = options.training;
    constexpr double usual_factor = 1.25;
    training.model = {
        .layers = controller.layers,
        .width = 48,
        .heads = 4,
        .experts = controller.experts,
        .top_k = 2,
        .hidden = 96,
        .context = 48,
        .dtype = is(spec, "dtype", "f64") ? at::kDouble : at::kFloat,
        .shape = is(spec, "shape", "mixtral") ? nn::MoeShape::mixtral : nn::MoeShape::gpt,
        .kv_heads = 2};
    if (is(spec, "routing", "capacity"))
        training.model.capacity_factor = spec.axes.contains("capacity_factor")
                                             ? number_axis(spec, "capacity_factor")
                                             : usual_factor;
    training.sequences = integer("sequences");
    training.seed = spec.seed;
    training.corpus = corpus.string();
    options.faults = parse_fault_plan(spec.scenario, fault_phases());
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.0);
    options.checkpoints = std::filesystem::path(spec.scratch) / "checkpoints";
    return options;
}

/// The references, trained after the live one on the layouts that it had.
struct Compared {
    bool equal = false;     ///< to the replay, bit for bit
    double difference = 0;  ///< of the replay from one process
};
Compared compare(const SessionOptions& options, const SessionResult& result) {
    at::set_num_threads(1);
    const nn::ByteCorpus corpus(options.training.corpus);
    PlannedTraining replay(options.training, corpus);
    OneProcess one(options.training, corpus);
    for (const auto& step : result.lineage) {
        replay.train(step);
        one.train(step.step, step.layout);
    }
    return {agrees(result.digests, replay.digests()), largest_difference(replay, one.state())};
}

void record_times(const SessionOptions& options, const SessionResult& result, Recorder& recorder) {
    std::int64_t number = 0;
    for (const auto& recovery : result.recoveries) {
        const Labels labels{{"event", number++}};
        if (recovery.injected_s >= 0 && recovery.detected_s >= 0)
            recorder.metric("detect_s", recovery.detected_s - recovery.injected_s, labels);
        if (recovery.resumed_s >= 0 && recovery.detected_s >= 0)
            recorder.metric("regroup_s", recovery.resumed_s - recovery.detected_s, labels);
    }
    const auto tokens = static_cast<double>(result.lineage.size()) *
                        static_cast<double>(options.training.sequences) *
                        options.training.model.context;
    if (const double end = result.steps.back().end_s; end > 0)
        recorder.metric("tokens_per_s", tokens / end);
}

}  // namespace

void run_x_live(const SampleSpec& spec, const std::filesystem::path& corpus, Recorder& recorder) {
    const auto options = options_of(spec, corpus);
    // The fork server comes first: it must be forked before libtorch starts threads here.
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    recorder.artifact("decisions.jsonl", recorded_decisions,
                      drive::recording_text(recorded_policy, options.controller, result.decisions));
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);

    recorder.progress(1, "training the same without faults, and in one process");
    const auto [equal, difference] = compare(options, result);

    std::map<Step, double> losses;  // of a step that was undone, its last
    for (const auto& step : result.steps) losses[step.step] = step.loss;
    for (const auto& [step, loss] : losses) recorder.metric("loss", loss, {{"step", step}});
    for (const auto& step : result.lineage)
        recorder.metric("moved_experts",
                        std::accumulate(step.layout.offload.begin(), step.layout.offload.end(), 0) *
                            step.layout.group.expert,
                        {{"step", step.step}});
    recorder.metric("difference", difference);
    const auto& counts = result.counts;
    const auto count = [&](const char* name, long value) {
        recorder.metric(name, static_cast<double>(value));
    };
    count("committed_steps", static_cast<long>(result.lineage.size()));
    count("state_equal_to_oracle", equal ? 1 : 0);
    count("discarded_steps", counts.discarded);
    count("steps_lost", counts.rolled_back);
    count("deaths", counts.deaths);
    count("joins", counts.joins);
    count("leaves", counts.leaves);
    count("plans", counts.plans);
    count("moves", counts.moves);
    count("faults_fired", result.faults_fired);
    record_times(options, result, recorder);
    if (!equal)
        throw SampleError(
            SampleStatus::failed,
            "weights and moments differ from those of the same groups without faults");
    const auto planned = static_cast<long>(options.faults.faults.size());
    if (result.faults_fired != planned)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("{} of {} faults never struck: the training ended, or their "
                                      "target was gone, before their time",
                                      planned - result.faults_fired, planned));
}

}  // namespace assay::hetermoe
