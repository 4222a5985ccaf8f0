#include "impls/lazarus/spot/fig9_course.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::lazarus {
namespace {

/// Sequences of the steps that count.
double samples_total(const TrainingCourse& course, const SpotTraining& training,
                     const Modelling& modelling) {
    double total = 0;
    for (const auto& step : kept_steps(course, training.duration_s))
        total += samples_of(step, modelling);
    return total;
}

/// Seconds of a modelled step while every node trains, median; NaN where none did.
double full_step_s(const TrainingCourse& course, const SpotTraining& training) {
    std::vector<double> seconds;
    for (const auto& step : course.steps)
        if (step.workers == course.steps.front().workers)
            seconds.push_back((step.end_s - step.start_s) / training.modelled_steps);
    return median(std::move(seconds));
}

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
                     const CourseFound& found) {
    const auto& counts = course.counts;
    found.restarts(counts.fallbacks);
    const auto by_reason = [&](RestartReason reason, long count) {
        found.restarts_by_reason(count, {{"reason", std::string(to_string(reason))}});
    };
    by_reason(RestartReason::no_replica_left, counts.no_replica_left);
    by_reason(RestartReason::too_few_survivors, counts.too_few_survivors);
    by_reason(RestartReason::every_loss, counts.every_loss);
    by_reason(RestartReason::planned, counts.planned_restarts);
    found.waits(counts.waits);
    // Of a draw by itself, and a run without a restart counts: no median must hide either.
    const auto draw = static_cast<std::int64_t>(training.seed);
    std::int64_t number = 0;
    const auto restart = [&](double at_s) {
        found.restart_min(at_s / 60, {{"event", number++}, {"draw", draw}});
    };
    for (const double at_s : course.restarts) restart(at_s);
    if (course.restarts.empty()) restart(training.duration_s);
}

void record_overheads(const TrainingCourse& course, double duration_s, const CourseFound& found) {
    const auto paused = [&](Pause pause) { return course.pauses.seconds(pause, duration_s); };
    const auto overhead = [&](const char* kind, double seconds) {
        found.overhead(seconds / duration_s, {{"kind", std::string(kind)}});
    };
    overhead("checkpoint_and_restart", paused(Pause::checkpoint) + paused(Pause::restart));
    overhead("reconfiguration_and_rebalance", paused(Pause::reconfiguration));
}

}  // namespace

void record_shares(const TrainingCourse& course, const std::vector<StepRecord>& kept,
                   double duration_s, const Metric& share) {
    double compute = 0;
    for (const auto& step : kept) compute += step.end_s - step.start_s;
    double lost = duration_s - compute;
    const auto record = [&](std::string_view part, double seconds) {
        share(seconds / duration_s, {{"part", std::string(part)}});
    };
    record("compute", compute);
    // In the order in which they were first recorded.
    for (const Pause pause : {Pause::checkpoint, Pause::restart, Pause::reconfiguration}) {
        const double seconds = course.pauses.seconds(pause, duration_s);
        record(to_string(pause), seconds);
        lost -= seconds;
    }
    record("lost", lost);
}

double median(std::vector<double> values) {
    if (values.empty()) return std::nan("");
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void record_course(const TrainingCourse& course, const SpotTraining& training,
                   const Modelling& modelling, Recorder& recorder) {
    const double duration_s = training.duration_s;
    const double total = samples_total(course, training, modelling);
    double trained = 0;
    for (const auto& step : course.steps)
        if (step.end_s <= duration_s) trained += samples_of(step, modelling);
    const CourseFound found(recorder);
    found.samples_total(total);
    found.samples_lost(trained - total);
    record_restarts(course, training, found);
    found.deaths(course.counts.deaths);
    found.mean_nodes_used(mean_workers(course.steps, duration_s));
    if (!course.steps.empty()) found.step_s(full_step_s(course, training));
    const auto kept = kept_steps(course, duration_s);
    record_shares(course, kept, duration_s, found.share);
    record_overheads(course, duration_s, found);
    record_curves(course, kept, samples_of({.workers = 1}, modelling), duration_s, recorder);
}

}  // namespace assay::lazarus
