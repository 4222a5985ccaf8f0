#include "impls/lazarus/spot/fig9_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

void record_curve(const char* name, const RateCurve& curve, Recorder& recorder) {
    recorder.time_series(name, "1/s", curve.t_s(), curve.per_s());
}

// Averages over each minute: sequences per second of the steps that count and of all of them (a
// restart undoes some that were trained), and workers that train.
void record_curves(const TrainingCourse& course, const std::vector<StepRecord>& kept,
                   double samples_per_worker, double duration_s, Recorder& recorder) {
    record_curve("throughput_kept", rate_of(kept, samples_per_worker, duration_s), recorder);
    record_curve("throughput", rate_of(course.steps, samples_per_worker, duration_s), recorder);
    std::vector<double> t, workers;
    for (const auto& [at, count] : course.workers) {
        if (at > duration_s) break;
        t.push_back(at);
        workers.push_back(count);
    }
    recorder.time_series("workers", "count", t, workers);
}

void record_restarts(const TrainingCourse& course, const SpotTraining& training,
                     Recorder& recorder) {
    const auto& counts = course.counts;
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
    // Of a draw by itself, and a run without a restart counts: no median must hide either.
    const auto draw = static_cast<std::int64_t>(training.seed);
    std::int64_t number = 0;
    const auto restart = [&](double at_s) {
        recorder.metric("restart_min", at_s / 60, {{"event", number++}, {"draw", draw}});
    };
    for (const double at_s : course.restarts) restart(at_s);
    if (course.restarts.empty()) restart(training.duration_s);
}

void record_overheads(const TrainingCourse& course, double duration_s, Recorder& recorder) {
    const auto paused = [&](Pause pause) { return course.pauses.seconds(pause, duration_s); };
    const auto overhead = [&](const char* kind, double seconds) {
        recorder.metric("overhead", seconds / duration_s, {{"kind", std::string(kind)}});
    };
    overhead("checkpoint_and_restart", paused(Pause::checkpoint) + paused(Pause::restart));
    overhead("reconfiguration_and_rebalance", paused(Pause::reconfiguration));
}

}  // namespace

void record_shares(const TrainingCourse& course, const std::vector<StepRecord>& kept,
                   double duration_s, Recorder& recorder) {
    double compute = 0;
    for (const auto& step : kept) compute += step.end_s - step.start_s;
    double lost = duration_s - compute;
    const auto share = [&](std::string_view part, double seconds) {
        recorder.metric("share", seconds / duration_s, {{"part", std::string(part)}});
    };
    share("compute", compute);
    // In the order in which they were first recorded.
    for (const Pause pause : {Pause::checkpoint, Pause::restart, Pause::reconfiguration}) {
        const double seconds = course.pauses.seconds(pause, duration_s);
        share(to_string(pause), seconds);
        lost -= seconds;
    }
    share("lost", lost);
}

double median(std::vector<double> values) {
    if (values.empty()) return std::nan("");
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
}

SpotTraining spot_training_of(const SampleSpec& spec, int workers, const std::string& routing) {
    SpotTraining training;
    training.system = spec.variant;
    training.model = assay::to_string(spec.axes.at("model"));
    training.cluster = assay::to_string(spec.axes.at("cluster"));
    training.routing = routing;
    training.workers = workers;
    training.modelled_steps = int(integer_axis(spec, "modelled_steps"));
    training.slots = int(integer_axis(spec, "slots"));
    training.placement =
        of_word<PlacementPolicy>(assay::to_string(spec.axes.at("placement"))).value();
    training.overlap = number_axis(spec, "overlap");
    training.relaunch_s = double(integer_axis(spec, "relaunch_s"));
    training.duration_s = 60.0 * double(integer_axis(spec, "minutes"));
    training.seed = spec.seed;
    return training;
}

double samples_total(const TrainingCourse& course, const SpotTraining& training,
                     const Modelling& modelling) {
    double total = 0;
    for (const auto& step : kept_steps(course, training.duration_s))
        total += samples_of(step, modelling);
    return total;
}

double full_step_s(const TrainingCourse& course, const SpotTraining& training) {
    std::vector<double> seconds;
    for (const auto& step : course.steps)
        if (step.workers == course.steps.front().workers)
            seconds.push_back((step.end_s - step.start_s) / training.modelled_steps);
    return median(std::move(seconds));
}

void record_course(const TrainingCourse& course, const SpotTraining& training,
                   const Modelling& modelling, Recorder& recorder) {
    const double duration_s = training.duration_s;
    const double total = samples_total(course, training, modelling);
    double trained = 0;
    for (const auto& step : course.steps)
        if (step.end_s <= duration_s) trained += samples_of(step, modelling);
    recorder.metric("samples_total", total);
    recorder.metric("samples_lost", trained - total);
    record_restarts(course, training, recorder);
    recorder.metric("deaths", double(course.counts.deaths));
    recorder.metric("mean_nodes_used", mean_workers(course.steps, duration_s));
    if (!course.steps.empty()) recorder.metric("step_s", full_step_s(course, training));
    const auto kept = kept_steps(course, duration_s);
    record_shares(course, kept, duration_s, recorder);
    record_overheads(course, duration_s, recorder);
    record_curves(course, kept, samples_of({.workers = 1}, modelling), duration_s, recorder);
}

}  // namespace assay::lazarus
