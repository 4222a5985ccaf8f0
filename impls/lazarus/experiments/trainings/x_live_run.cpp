#include "impls/lazarus/tensor_functions.hpp"

#include <ATen/Parallel.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/lazarus/live/driver.hpp"
#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {
namespace {

SessionOptions options_of(const SampleSpec& spec, const std::filesystem::path& corpus) {
    SessionOptions options;
    auto& training = options.training;
    training.model.experts = static_cast<int>(integer_axis(spec, "experts"));
    training.seed = spec.seed;
    training.corpus = corpus.string();
    auto& controller = options.controller;
    controller.layers = training.model.layers;
    controller.experts = training.model.experts;
    controller.slots = static_cast<int>(integer_axis(spec, "slots"));
    controller.min_replicas = static_cast<int>(integer_axis(spec, "min_replicas"));
    controller.steps = integer_axis(spec, "steps");
    controller.rebalance_every = integer_axis(spec, "rebalance_every");
    controller.checkpoint_every = integer_axis(spec, "checkpoint_every");
    controller.initial_workers = static_cast<int>(integer_axis(spec, "workers"));
    options.faults = parse_fault_plan(spec.scenario, fault_phases());
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.0);
    options.checkpoints = std::filesystem::path(spec.scratch) / "checkpoints";
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

void record_recoveries(const SessionResult& result, Recorder& recorder) {
    std::int64_t number = 0;
    for (const auto& recovery : result.recoveries) {
        const Labels labels{{"event", number++}};
        if (recovery.injected_s >= 0 && recovery.detected_s >= 0)
            recorder.metric("detect_s", recovery.detected_s - recovery.injected_s, labels);
        if (recovery.injected_s >= 0 && recovery.surfaced_s >= 0)
            recorder.metric("surface_s", recovery.surfaced_s - recovery.injected_s, labels);
        if (recovery.resumed_s >= 0 && recovery.detected_s >= 0)
            recorder.metric("regroup_s", recovery.resumed_s - recovery.detected_s, labels);
    }
}

// Tokens per second of each committed step, from one commit to the next.
void record_throughput(const SessionOptions& options, const SessionResult& result,
                       Recorder& recorder) {
    const double per_worker = static_cast<double>(options.training.sequences) *
                              static_cast<double>(options.training.model.context);
    std::vector<double> ends, throughput, workers, losses;
    double tokens = 0, before = 0;
    for (const auto& step : result.steps) {
        ends.push_back(step.end_s);
        throughput.push_back(step.end_s > before ? step.workers * per_worker / (step.end_s - before)
                                                 : 0);
        workers.push_back(step.workers);
        losses.push_back(step.loss);
        before = step.end_s;
    }
    for (const auto& step : result.lineage)
        tokens += static_cast<double>(step.training.size()) * per_worker;
    recorder.time_series("throughput", "1/s", ends, throughput);
    recorder.time_series("workers", "count", ends, workers);
    recorder.time_series("loss", "nat/token", ends, losses);
    if (before > 0) recorder.metric("tokens_per_s", tokens / before);
}

// From each fault to the first step that the survivors finished after it.
void record_disturbances(const SessionResult& result, Recorder& recorder) {
    std::int64_t number = 0;
    for (const auto& one : result.disturbances)
        recorder.metric("fault_to_step_s", one.first_step_s - one.injected_s,
                        {{"event", number++}, {"kind", std::string(to_string(one.kind))}});
}

}  // namespace

void run_x_live(const SampleSpec& spec, const std::filesystem::path& corpus, Recorder& recorder) {
    const auto options = options_of(spec, corpus);
    // The fork server comes first: it must be forked before libtorch starts threads here.
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    store_decisions(recorder, options.controller, result.decisions);
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);

    recorder.progress(1, "replaying the recorded membership with nobody killed");
    at::set_num_threads(1);
    const bool equal = agrees(result.digests, replay_lineage(options.training, result.lineage));

    const auto& counts = result.counts;
    const auto count = [&](const char* name, long value) {
        recorder.metric(name, static_cast<double>(value));
    };
    count("committed_steps", static_cast<long>(result.lineage.size()));
    count("steps_lost", counts.rolled_back);
    count("state_equal_to_oracle", equal ? 1 : 0);
    count("discarded_steps", counts.discarded);
    count("deaths", counts.deaths);
    count("joins", result.joins);
    count("leaves", counts.leaves);
    count("fallbacks", counts.fallbacks);
    count("reconfigurations", counts.reconfigurations);
    count("transfers", counts.transfers);
    count("faults_planned", static_cast<long>(options.faults.faults.size()));
    count("faults_fired", result.faults_fired);
    recorder.metric("state_checksum", checksum(result.digests));
    count("retries", counts.retries);
    count("evictions", counts.evictions);
    count("bad_checkpoints", counts.bad_checkpoints);
    recorder.metric("loss_first", result.steps.front().loss);
    recorder.metric("loss_last", result.steps.back().loss);
    record_recoveries(result, recorder);
    record_disturbances(result, recorder);
    record_throughput(options, result, recorder);
    require_equal(equal);
    const auto planned = static_cast<long>(options.faults.faults.size());
    if (result.faults_fired != planned) {
        throw SampleError(SampleStatus::invalid,
                          fmt::format("{} of {} faults never struck: the training ended, or their "
                                      "target was gone, before their time",
                                      planned - result.faults_fired, planned));
    }
}
}  // namespace assay::lazarus
