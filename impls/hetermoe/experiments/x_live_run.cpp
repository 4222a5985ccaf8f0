#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <numeric>

#include "impls/hetermoe/experiments/x_live.hpp"
#include "impls/hetermoe/live/session.hpp"
#include "impls/hetermoe/live/worker.hpp"
#include "suite/drive/recording.hpp"

namespace assay::hetermoe {
namespace {

SessionOptions options_of(const LiveTraining& live) {
    SessionOptions options;
    auto& controller = options.controller;
    controller.layers = live.layers;
    controller.experts = live.experts;
    controller.group = {live.fresh, live.old};
    controller.groups = live.groups;
    controller.micro_batches = live.micro_batches;
    controller.chunks = live.chunks;
    controller.steps = live.steps;
    controller.checkpoint_every = live.checkpoint_every;
    controller.squeeze = live.replan;
    controller.times.old_attention = controller.times.attention;  // workers are alike
    if (live.replan) options.pace = PaceSettings{};
    auto& training = options.training;
    training.model = {.layers = live.layers,
                      .width = 48,
                      .heads = 4,
                      .experts = live.experts,
                      .top_k = 2,
                      .hidden = 96,
                      .context = 48,
                      .dtype = live.dtype == Precision::f64 ? at::kDouble : at::kFloat,
                      .shape = live.shape,
                      .kv_heads = 2};
    if (live.routing == Routing::capacity) training.model.capacity_factor = live.capacity_factor;
    training.sequences = live.sequences;
    training.seed = live.seed;
    training.corpus = live.corpus.string();
    options.faults = live.faults;
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.0);
    options.checkpoints = live.scratch / "checkpoints";
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

void record_times(const SessionOptions& options, const SessionResult& result,
                  const LiveFound& found) {
    std::int64_t number = 0;
    for (const auto& recovery : result.recoveries) {
        const Labels labels{{"event", number++}};
        if (recovery.injected_s >= 0 && recovery.detected_s >= 0)
            found.detect_s(recovery.detected_s - recovery.injected_s, labels);
        if (recovery.resumed_s >= 0 && recovery.detected_s >= 0)
            found.regroup_s(recovery.resumed_s - recovery.detected_s, labels);
    }
    const auto tokens = static_cast<double>(result.lineage.size()) *
                        static_cast<double>(options.training.sequences) *
                        options.training.model.context;
    if (const double end = result.steps.back().end_s; end > 0) found.tokens_per_s(tokens / end);
}

void train(const LiveTraining& live, Recorder& recorder) {
    const auto options = options_of(live);
    // The fork server comes first: it must be forked before libtorch starts threads here.
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    recorder.artifact("decisions.jsonl", recorded_decisions,
                      drive::recording_text(recorded_policy, options.controller, result.decisions));
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);

    recorder.progress(1, "training the same without faults, and in one process");
    const auto [equal, difference] = compare(options, result);

    const LiveFound found(recorder);
    std::map<Step, double> losses;  // of a step that was undone, its last
    for (const auto& step : result.steps) losses[step.step] = step.loss;
    for (const auto& [step, loss] : losses) found.loss(loss, {{"step", step}});
    for (const auto& step : result.lineage)
        found.moved_experts(
            std::accumulate(step.layout.offload.begin(), step.layout.offload.end(), 0) *
                step.layout.group.expert,
            {{"step", step.step}});
    found.difference(difference);
    const auto& counts = result.counts;
    found.committed_steps(result.lineage.size());
    found.state_equal(equal);
    found.discarded_steps(counts.discarded);
    found.steps_lost(counts.rolled_back);
    found.deaths(counts.deaths);
    found.joins(counts.joins);
    found.leaves(counts.leaves);
    found.plans(counts.plans);
    found.moves(counts.moves);
    found.faults_fired(result.faults_fired);
    record_times(options, result, found);
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

const tensors::Provided provided(train_live, train);

}  // namespace
}  // namespace assay::hetermoe
