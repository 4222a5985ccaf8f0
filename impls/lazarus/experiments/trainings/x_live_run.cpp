#include "impls/lazarus/experiments/trainings/x_live.hpp"

#include <ATen/Parallel.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/lazarus/live/driver.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {
namespace {

SessionOptions options_of(const LiveTraining& live) {
    SessionOptions options;
    auto& training = options.training;
    training.model.experts = live.experts;
    training.seed = live.seed;
    training.corpus = live.corpus.string();
    options.controller.layers = training.model.layers;
    options.controller.experts = live.experts;
    options.controller.slots = live.slots;
    options.controller.min_replicas = live.min_replicas;
    options.controller.steps = live.steps;
    options.controller.rebalance_every = live.rebalance_every;
    options.controller.checkpoint_every = live.checkpoint_every;
    options.controller.initial_workers = live.workers;
    options.faults = live.faults;
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.0);
    options.checkpoints = live.scratch / "checkpoints";
    return options;
}

// Of every block once: whoever answered for it, the bits are the same.
double checksum(const StateDigests& digests) {
    std::map<BlockKey, std::uint64_t> blocks;
    for (const auto& [worker, held] : digests) blocks.insert(held.begin(), held.end());
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const auto& [key, digest] : blocks) hash = (hash ^ digest) * 0x100000001b3ULL;
    return static_cast<double>(hash >> 12);
}

void record_recoveries(const SessionResult& result, const LiveFound& found) {
    std::int64_t number = 0;
    for (const auto& recovery : result.recoveries) {
        const Labels labels{{"event", number++}};
        if (recovery.injected_s >= 0 && recovery.detected_s >= 0)
            found.detect_s(recovery.detected_s - recovery.injected_s, labels);
        if (recovery.injected_s >= 0 && recovery.surfaced_s >= 0)
            found.surface_s(recovery.surfaced_s - recovery.injected_s, labels);
        if (recovery.resumed_s >= 0 && recovery.detected_s >= 0)
            found.regroup_s(recovery.resumed_s - recovery.detected_s, labels);
    }
}

// Tokens per second of each committed step, from one commit to the next; where longer than the step
// itself nothing was computed that counts (a worker hung, the others regrouped), none.
void record_throughput(const SessionOptions& options, const SessionResult& result,
                       const LiveFound& found, Recorder& recorder) {
    const double per_worker = static_cast<double>(options.training.sequences) *
                              static_cast<double>(options.training.model.context);
    std::vector<double> at, throughput, ends, workers, losses;
    double tokens = 0, before = 0;
    for (const auto& step : result.steps) {
        const bool stood_still = step.start_s - before > step.end_s - step.start_s;
        const double seconds = step.end_s - (stood_still ? step.start_s : before);
        const double rate = seconds > 0 ? step.workers * per_worker / seconds : 0;
        if (stood_still) {
            at.insert(at.end(), {before, step.start_s, step.start_s});
            throughput.insert(throughput.end(), {0, 0, rate});
        }
        at.push_back(step.end_s);
        throughput.push_back(rate);
        ends.push_back(step.end_s);
        workers.push_back(step.workers);
        losses.push_back(step.loss);
        before = step.end_s;
    }
    for (const auto& step : result.lineage)
        tokens += static_cast<double>(step.training.size()) * per_worker;
    recorder.time_series("throughput", "1/s", at, throughput);
    recorder.time_series("workers", "count", ends, workers);
    recorder.time_series("loss", "nat/token", ends, losses);
    if (before > 0) found.tokens_per_s(tokens / before);
}

// From each fault to the first step that the survivors finished after it.
void record_disturbances(const SessionResult& result, const LiveFound& found) {
    std::int64_t number = 0;
    for (const auto& one : result.disturbances)
        found.fault_to_step_s(one.first_step_s - one.injected_s,
                              {{"event", number++}, {"kind", std::string(to_string(one.kind))}});
}

void train(const LiveTraining& live, Recorder& recorder) {
    const auto options = options_of(live);
    // The fork server comes first: it must be forked before libtorch starts threads here.
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    store_decisions(recorder, options.controller, result.decisions);
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);

    recorder.progress(1, "replaying the recorded membership with nobody killed");
    at::set_num_threads(1);
    const bool equal = agrees(result.digests, replay_lineage(options.training, result.lineage));

    const LiveFound found(recorder);
    const auto& counts = result.counts;
    found.committed_steps(result.lineage.size());
    found.steps_lost(counts.rolled_back);
    found.state_equal(equal);
    found.discarded_steps(counts.discarded);
    found.deaths(counts.deaths);
    found.joins(result.joins);
    found.leaves(counts.leaves);
    found.fallbacks(counts.fallbacks);
    found.reconfigurations(counts.reconfigurations);
    found.transfers(counts.transfers);
    found.faults_planned(live.faults.faults.size());
    found.faults_fired(result.faults_fired);
    found.state_checksum(checksum(result.digests));
    found.retries(counts.retries);
    found.evictions(counts.evictions);
    found.bad_checkpoints(counts.bad_checkpoints);
    found.loss_first(result.steps.front().loss);
    found.loss_last(result.steps.back().loss);
    record_recoveries(result, found);
    record_disturbances(result, found);
    record_throughput(options, result, found, recorder);
    require_equal(equal);
    const auto planned = static_cast<long>(options.faults.faults.size());
    if (result.faults_fired != planned) {
        throw SampleError(SampleStatus::invalid,
                          fmt::format("{} of {} faults never struck: the training ended, or their "
                                      "target was gone, before their time",
                                      planned - result.faults_fired, planned));
    }
}

const tensors::Provided provided(train_live, train);

}  // namespace
}  // namespace assay::lazarus
