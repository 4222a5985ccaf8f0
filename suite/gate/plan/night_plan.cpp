#include "suite/gate/plan/night_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/base/error.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/level.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::gate {
namespace {

/// Collects the plans of a suite's entries; a sample that two entries ask for is taken once.
class Merging {
  public:
    void add(runner::Plan&& part, const SeriesGate& gate) {
        for (runner::PlannedSample& sample : part.samples) {
            const auto [known, is_new] = out_.gates.emplace(series_of(sample.spec), gate);
            if (!is_new && known->second != gate)
                throw UserError(fmt::format(
                    "two entries of the suite have {} and differ in its metrics, margin "
                    "or rounds; one entry must say it all, or something stays unwatched",
                    known->first.series_text()));
            if (seen_.insert(runner::identity(sample.spec)).second)
                out_.plan.samples.push_back(std::move(sample));
        }
        out_.plan.calibrations.merge(part.calibrations);
        out_.left_out.insert(out_.left_out.end(), part.left_out.begin(), part.left_out.end());
        for (runner::StandIn& in : part.stand_ins) out_.plan.stand_ins.push_back(std::move(in));
    }

    void left_out(LeftOut&& experiment) {
        out_.left_out_experiments.push_back(std::move(experiment));
    }

    NightPlan finish() {
        auto& samples = out_.plan.samples;
        std::stable_sort(samples.begin(), samples.end(),
                         [](const auto& a, const auto& b) { return a.spec.round < b.spec.round; });
        for (auto first = samples.begin(); first != samples.end();) {
            const int round = first->spec.round;
            const auto last = std::find_if(first, samples.end(), [&](const auto& sample) {
                return sample.spec.round != round;
            });
            if (round % 2 == 1) std::reverse(first, last);
            first = last;
        }
        for (const runner::PlannedSample& sample : samples) {
            out_.plan.seconds += sample.seconds;
            out_.plan.bytes += sample.bytes;
        }
        out_.plan.hash = runner::plan_hash(samples);
        return std::move(out_);
    }

  private:
    NightPlan out_;
    std::set<std::string> seen_;
};

runner::Request request_of(const SuiteExperiment& experiment, const SuiteFile& suite) {
    runner::Request request;
    request.patterns = experiment.patterns;
    request.profile = experiment.profile;
    request.provenance = experiment.provenance;
    request.axes = experiment.axes;
    request.variants = experiment.variants;
    request.rounds = experiment.rounds.value_or(suite.rounds);
    return request;
}

runner::Request request_of(const SuiteBenchmark& benchmark, const SuiteFile& suite) {
    runner::Request request;
    request.patterns = {std::string(benchmark_experiment)};
    for (const auto& [axis, value] : benchmark_case(benchmark)) request.axes[axis] = {value};
    request.rounds = benchmark.rounds.value_or(suite.rounds);
    return request;
}

/// A misspelt metric would leave its rows unwatched.
void check_metrics(const Registry& registry, const SuiteExperiment& entry) {
    std::set<std::string> known;
    for (const std::string& pattern : entry.patterns)
        for (const Experiment* experiment : registry.select(pattern))
            for (const MetricSpec& metric : experiment->metrics) known.insert(metric.name);
    for (const std::string& name : entry.metrics)
        if (!known.contains(name))
            throw UserError(fmt::format("no experiment of {} has the metric '{}'; they have: {}",
                                        fmt::join(entry.patterns, ", "), name,
                                        fmt::join(known, ", ")));
}

/// Of the experiments that the entry's patterns match, those without samples.
std::set<std::string> left_out_of(const runner::Plan& plan, const SuiteExperiment& entry,
                                  const Registry& registry) {
    std::set<std::string> ids;
    if (plan.left_out.empty()) return ids;
    for (const std::string& pattern : entry.patterns)
        for (const Experiment* experiment : registry.select(pattern)) ids.insert(experiment->id);
    for (const runner::PlannedSample& sample : plan.samples) ids.erase(sample.spec.experiment);
    return ids;
}

/// Where all of the plan that has the level's metric says that the other way is better.
void check_levels(const Registry& registry, const SuiteFile& suite, const NightPlan& plan) {
    for (const SuiteLevel& level : suite.levels) {
        std::set<Direction> directions;
        for (const auto& [series, gate] : plan.gates)
            if (const Experiment* experiment = registry.experiment(series.experiment))
                if (const MetricSpec* metric = experiment->metric(level.metric))
                    directions.insert(metric->better);
        for (const store::MetricUnit& stated : plan.directions)
            if (stated.name == level.metric) directions.insert(stated.better);
        directions.erase(Direction::none);
        if (directions.size() != 1) continue;
        if (const auto wrong = against_direction(level, *directions.begin()); !wrong.empty())
            throw UserError(wrong);
    }
}

int rounds_of_control(const SuiteFile& suite) {
    int most = 1;
    for (const auto& experiment : suite.experiments)
        most = std::max(most, experiment.rounds.value_or(suite.rounds));
    for (const auto& benchmark : suite.benchmarks)
        most = std::max(most, benchmark.rounds.value_or(suite.rounds));
    return most;
}

}  // namespace

NightPlan make_night_plan(const Registry& registry, const SuiteFile& suite) {
    Merging merging;
    if (suite.control && registry.experiment(runner::control_experiment) != nullptr) {
        runner::Request control;
        control.patterns = {std::string(runner::control_experiment)};
        control.rounds = rounds_of_control(suite);
        merging.add(runner::make_plan(registry, control),
                    {{}, suite.margin, true, control.rounds.value_or(1)});
    }
    for (const SuiteExperiment& experiment : suite.experiments) check_metrics(registry, experiment);
    for (const SuiteExperiment& experiment : suite.experiments) {
        runner::Plan plan = runner::make_plan(registry, request_of(experiment, suite));
        const SeriesGate gate = {{experiment.metrics.begin(), experiment.metrics.end()},
                                 experiment.margin.value_or(suite.margin),
                                 false,
                                 experiment.rounds.value_or(suite.rounds)};
        for (const std::string& id : left_out_of(plan, experiment, registry))
            merging.left_out({id, experiment.profile, experiment.provenance, gate});
        merging.add(std::move(plan), gate);
    }
    for (const SuiteBenchmark& benchmark : suite.benchmarks)
        merging.add(runner::make_plan(registry, request_of(benchmark, suite)),
                    {{},
                     benchmark.margin.value_or(suite.margin),
                     false,
                     benchmark.rounds.value_or(suite.rounds)});
    NightPlan plan = merging.finish();
    plan.directions = stated_directions(suite);
    check_levels(registry, suite, plan);
    return plan;
}

}  // namespace assay::gate
