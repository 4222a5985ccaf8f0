#include "impls/lazarus/tensor_functions.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "impls/lazarus/experiments/spot_training.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

SpotTraining training_of(const SampleSpec& spec, int workers, const std::string& routing) {
    SpotTraining training;
    training.system = spec.variant;
    training.model = assay::to_string(spec.axes.at("model"));
    training.cluster = assay::to_string(spec.axes.at("cluster"));
    training.routing = routing;
    training.workers = workers;
    training.modelled_steps = int(integer_axis(spec, "modelled_steps"));
    training.slots = int(integer_axis(spec, "slots"));
    training.placement =
        parse_placement_policy(assay::to_string(spec.axes.at("placement"))).value();
    training.relaunch_s = double(integer_axis(spec, "relaunch_s"));
    training.duration_s = 60.0 * double(integer_axis(spec, "minutes"));
    training.seed = spec.seed;
    return training;
}

double median(std::vector<double> values) {
    if (values.empty()) return std::nan("");
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void record_curve(const char* name, const RateCurve& curve, Recorder& recorder) {
    recorder.time_series(name, "1/s", curve.t_s, curve.samples);
}

// Averages over each minute: sequences per second of the steps that count and of all of them (a
// restart undoes some that were trained), and workers that train.
void record_curves(const SessionResult& result, const std::vector<StepRecord>& kept,
                   double samples_per_worker, double duration_s, Recorder& recorder) {
    record_curve("throughput_kept", rate_of(kept, samples_per_worker, duration_s), recorder);
    record_curve("throughput", rate_of(result.steps, samples_per_worker, duration_s), recorder);
    std::vector<double> t, workers;
    for (const auto& [at, count] : result.workers) {
        if (at > duration_s) break;
        t.push_back(at);
        workers.push_back(count);
    }
    recorder.time_series("workers", "count", t, workers);
}

void record_restarts(const SessionResult& result, Recorder& recorder) {
    const auto& counts = result.counts;
    recorder.metric("restarts", double(counts.fallbacks));
    const auto by_reason = [&](RestartReason reason, long count) {
        recorder.metric("restarts_by_reason", double(count),
                        {{"reason", std::string(to_string(reason))}});
    };
    by_reason(RestartReason::no_replica_left, counts.no_replica_left);
    by_reason(RestartReason::too_few_survivors, counts.too_few_survivors);
    by_reason(RestartReason::every_loss, counts.every_loss);
    by_reason(RestartReason::planned, counts.planned_restarts);
    recorder.metric("waits", double(counts.waits));
    std::int64_t number = 0;
    for (double at : result.restarts)
        recorder.metric("restart_min", at / 60, {{"event", number++}});
}

void record_shares(const SessionResult& result, const std::vector<StepRecord>& kept,
                   double duration_s, Recorder& recorder) {
    double compute = 0;
    for (const auto& step : kept) compute += step.end_s - step.start_s;
    using Pause = PacedTime::Pause;
    const auto paused = [&](Pause pause) { return result.pacing.paused(pause, duration_s); };
    const double checkpoint = paused(Pause::checkpoint), restart = paused(Pause::restart),
                 reconfiguration = paused(Pause::reconfiguration);
    const double rest = duration_s - compute - checkpoint - restart - reconfiguration;
    const auto share = [&](const char* part, double seconds) {
        recorder.metric("share", seconds / duration_s, {{"part", std::string(part)}});
    };
    share("compute", compute);
    share("checkpoint", checkpoint);
    share("restart", restart);
    share("reconfiguration", reconfiguration);
    share("lost", rest);
    const auto overhead = [&](const char* kind, double seconds) {
        recorder.metric("overhead", seconds / duration_s, {{"kind", std::string(kind)}});
    };
    overhead("checkpoint_and_restart", checkpoint + restart);
    overhead("reconfiguration_and_rebalance", reconfiguration);
}

void record_real_costs(const SessionResult& result, Recorder& recorder) {
    if (!result.detections_real_s.empty())
        recorder.metric("real_detect_s", median(result.detections_real_s));
    std::vector<double> regroups;
    for (const auto& one : result.reconfigurations) regroups.push_back(one.real_s);
    if (!regroups.empty()) recorder.metric("real_regroup_s", median(regroups));
}

}  // namespace

void run_fig9(const SampleSpec& spec, const MappedTrace& nodes, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder) {
    const auto training = training_of(spec, nodes.initial_workers, routing);
    auto options = spot_session(training, corpus, spec.scratch);
    options.faults = nodes.faults;
    const double duration_s = training.duration_s;
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);

    const auto& modelling = options.pacing->modelling;
    const auto kept = kept_steps(result, duration_s);
    double total = 0, trained = 0;
    for (const auto& step : kept) total += samples_of(step, modelling);
    for (const auto& step : result.steps)
        if (step.end_s <= duration_s) trained += samples_of(step, modelling);
    recorder.metric("samples_total", total);
    recorder.metric("samples_lost", trained - total);
    record_restarts(result, recorder);
    recorder.metric("deaths", double(result.counts.deaths));
    recorder.metric("mean_nodes_used", mean_workers(result.steps, duration_s));
    std::vector<double> full;
    for (const auto& step : result.steps)
        if (step.workers == result.steps.front().workers)
            full.push_back((step.end_s - step.start_s) / training.modelled_steps);
    if (!full.empty()) recorder.metric("step_s", median(full));
    record_shares(result, kept, duration_s, recorder);
    record_curves(result, kept, samples_of({.workers = 1}, modelling), duration_s, recorder);
    record_real_costs(result, recorder);
    recorder.metric("overrun", result.pacing.overrun());
    recorder.metric("speed", median(result.pacing.speeds));

    if (!result.digests.empty()) {
        recorder.progress(1, "replaying the recorded membership with nobody killed");
        at::set_num_threads(1);
        const bool equal = agrees(result.digests, replay_lineage(options.training, result.lineage));
        recorder.metric("state_equal_to_oracle", equal ? 1 : 0);
        require_equal(equal);
    }
    require_paced(result.pacing);
}

}  // namespace assay::lazarus
