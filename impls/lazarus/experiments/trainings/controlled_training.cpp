#include "impls/lazarus/experiments/trainings/controlled_training.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/experiments/trainings/training_experiment.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "suite/drive/simulated/event_queue.hpp"

namespace assay::lazarus {
namespace {

const std::vector<std::string> at_ends = {"samples_total", "rate", "restarts"};

// Beside CourseFound.
struct ControlledFound : Metrics {
    using Metrics::Metrics;
    Metric steps = varying("steps", "count", "steps that were not lost again, modelled", higher);
    Metric rate =
        varying("rate", "1/s",
                "sequences per second that were not lost again, between failures, and over the "
                "last two such times together",
                higher, {"from_min", "to_min"});
};

SpotTraining training_of(const ControlledTraining& figure, const TrainingOnTheClock& settings,
                         const std::string& system) {
    SpotTraining training = settings;
    training.system = system;
    training.routing = routing_source(settings.trace);
    training.workers = figure.failures.nodes;
    training.real_layers = settings.routed_layers();
    training.duration_s = figure.failures.duration_s();
    return training;
}

// Lazarus writes none here: it recovers from single failures without (section 6.4 has it write
// checkpoints on the spot trace only).
ModelledTraining modelled_of(const ControlledTraining& figure, const SpotTraining& training) {
    ModelledTraining modelled = modelled_training(training);
    auto& every = modelled.controller.checkpoint_every;
    every = competing_system(training.system).in_groups() ? every * figure.checkpoint_times : 0;
    modelled.modelling.accumulation = figure.accumulation;
    return modelled;
}

// Alike for all systems and at all ends: drawn for what the profiles say.
FaultPlan victims(const ControlledTraining& figure, const TrainingOnTheClock& settings) {
    if (figure.idle_first.empty()) return random_victims(figure.failures, settings.seed);
    // Who is idle depends on who is left, not on how long steps take.
    TrainingOnTheClock simple = settings;
    simple.trace = "synthetic";
    SpotTraining rival = training_of(figure, simple, figure.idle_first);
    rival.modelled_steps = 50;
    rival.real_layers = 2;
    return idle_first_victims(figure.failures, modelled_of(figure, rival),
                              CostModel(cluster_profile(rival.cluster)), rival.seed);
}

void record_rates(const RateCurve& kept, const ControlledFailures& failures, const Metric& rate) {
    const auto record = [&](int from, int to) {
        const double from_min = from * failures.every_s / 60, to_min = to * failures.every_s / 60;
        const auto begin = kept.per_s().begin() + std::lround(from_min),
                   end = kept.per_s().begin() + std::lround(to_min);
        rate(std::accumulate(begin, end, 0.0) / double(end - begin),
             {{"from_min", std::int64_t(std::lround(from_min))},
              {"to_min", std::int64_t(std::lround(to_min))}});
    };
    const int phases = failures.count() + 1;
    for (int phase = 0; phase < phases; ++phase) record(phase, phase + 1);
    record(phases - 2, phases);
}

void record_total(const RateCurve& kept, Recorder& recorder) {
    constexpr double minute_s = 60;
    std::vector<double> t{0}, trained{0};
    for (std::size_t i = 0; i < kept.t_s().size(); ++i) {
        t.push_back(double(i + 1) * minute_s);
        trained.push_back(trained.back() + kept.per_s()[i] * minute_s);
    }
    recorder.time_series("samples", "count", t, trained);
}

void simulate(const ControlledTraining& figure, const SpotTraining& training,
              const FaultPlan& faults, const AssumedValues& values, bool keep_decisions,
              Recorder& recorder) {
    ModelledTraining modelled = modelled_of(figure, training);
    modelled.modelling = modelling_with(modelled.modelling, values);
    modelled.faults = faults;
    modelled.keep_decisions = keep_decisions;
    const CostModel costs = costs_with(training.cluster, values);
    drive::EventQueue time;
    const auto course = simulate_training(modelled, costs, time, recorder);
    if (!course.ok) throw SampleError(SampleStatus::failed, course.why);
    if (keep_decisions) store_decisions(recorder, modelled.controller, course.decisions);
    record_course(course, training, modelled.modelling, recorder);
    const auto steps = kept_steps(course, training.duration_s);
    const ControlledFound found(recorder);
    found.steps(double(steps.size()) * training.modelled_steps);
    const RateCurve kept =
        rate_of(steps, samples_of({.workers = 1}, modelled.modelling), training.duration_s);
    record_rates(kept, figure.failures, found.rate);
    record_total(kept, recorder);
}

void run(const ControlledTraining& figure, const TrainingOnTheClock& settings, Recorder& recorder) {
    const SpotTraining training = training_of(figure, settings, settings.system);
    const FaultPlan faults = victims(figure, settings);
    const RoutingReplay keeps_the_trace_in_memory(modelled_of(figure, training).routing);
    // At profile paper there are too many steps to keep every decision of; a replay makes them
    // again.
    const bool keep_decisions = settings.profile != Profile::paper;
    simulate_with_ends(settings, at_ends, recorder, [&](const AssumedValues& values, Recorder& to) {
        simulate(figure, training, faults, values, keep_decisions && &to == &recorder, to);
    });
}

nlohmann::json calibration(const ControlledTraining& figure, const TrainingOnTheClock& settings) {
    const AssumedValues values = settings.assumed_values();
    nlohmann::json taken{{"nodes", figure.failures.nodes},
                         {"faults", assay::to_string(victims(figure, settings))},
                         {"checkpoint_times", figure.checkpoint_times},
                         {"accumulation", figure.accumulation},
                         {"costs", costs_with(settings.cluster, values).to_json()}};
    if (settings.profile == Profile::paper) taken["ends"] = ranges_to_json(values);
    return taken;
}

std::vector<MetricSpec> metrics() {
    auto all = declared<CourseFound>();
    for (MetricSpec& one : declared<ControlledFound>()) all.push_back(std::move(one));
    for (MetricSpec& one : metrics_at_ends(all, at_ends)) all.push_back(std::move(one));
    return all;
}

ProfilePlan profile(Profile name, const char* trace, std::int64_t modelled_steps) {
    ProfilePlan plan;
    plan.profile = name;
    plan.provenances = {Provenance::simulated};
    plan.axes = {{"trace", {trace}}, {"modelled_steps", {modelled_steps}}};
    leave_unnamed(plan);
    return plan;
}

Experiment described(const ControlledTraining& figure) {
    const auto minutes = [](double seconds) { return std::lround(seconds / 60); };
    Experiment e;
    e.id = figure.id;
    e.title = figure.title;
    e.source = figure.source;
    e.says = fmt::format(
        "One of {} nodes is lost every {} minutes until {} are left, for {} minutes in all: who is "
        "lost is drawn from the seed, the same for every system. Simulated: the controller of live "
        "runs in virtual time, operations priced by a cost model (device data sheet and assumed "
        "efficiencies: nothing is fitted to the paper's results), gates by a routing trace. {} "
        "Lazarus writes no checkpoints here, as in the paper. What is not published is a range: "
        "the time to relaunch a job is an axis; times to detect and to regroup, the efficiencies "
        "of devices and links and the overlap of gradient sums are as the profiles say, and at "
        "profile paper every choice of their ends is simulated too (metrics NAME_at_ends), with "
        "all twelve layers planned one by one. The curve shows work that counts: steps that a "
        "restart undid are left out where they were made, so its sum is samples_total.",
        figure.failures.nodes, minutes(figure.failures.every_s), figure.failures.left,
        minutes(figure.failures.duration_s()), figure.says);
    e.variants = names_of_systems();
    e.metrics = metrics();
    ProfilePlan toy = profile(Profile::toy, "synthetic", 50);
    toy.seconds_per_sample = 0.1;
    toy.bytes_per_sample = 100e3;
    ProfilePlan paper = profile(Profile::paper, "smartmoe", 10);
    paper.rounds = 5;
    paper.seconds_per_sample = 4;
    paper.bytes_per_sample = 150e3;
    paper.timeout_s = 1800;
    toy.variants = paper.variants = figure.systems;
    e.profiles = {toy, paper};
    e.figure = {Figure::Kind::timeline,
                "throughput_kept",
                "t_s",
                {"model", "relaunch_s"},
                "time",
                "samples kept per second",
                false};
    return e;
}

}  // namespace

Experiment controlled_experiment(ControlledTraining figure) {
    using Settings = TrainingOnTheClock;
    Declaration<Settings> controlled(described(figure));
    controlled.part(training_axes());
    controlled.part(modelling_axes(figure.cluster));
    controlled.part(profile_input_axes());
    controlled.part(overlap_axis());
    controlled.unsupported([](const Settings& settings) { return missing_trace(settings.trace); });
    controlled.inputs([](const Settings& settings) { return trace_inputs(settings.trace); });
    controlled.calibration(
        [figure](const Settings& settings) { return calibration(figure, settings); });
    return controlled.runs([figure](const Settings& settings, Recorder& recorder) {
        run(figure, settings, recorder);
    });
}

}  // namespace assay::lazarus
