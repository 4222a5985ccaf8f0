#include "suite/gate/qualify/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "suite/base/error.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/sample/slowdown.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::qualify {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
/// A baseline and two nights, none of which share a round.
constexpr int fewest_nights = 3;

/// Rows of one round stay so, in a pool as in a night.
gate::SuiteFile prolonged(gate::SuiteFile suite, int rounds) {
    const auto prolong = [&](std::optional<int>& own) {
        if (own.value_or(suite.rounds) > 1) own = rounds;
    };
    for (gate::SuiteExperiment& experiment : suite.experiments) prolong(experiment.rounds);
    for (gate::SuiteBenchmark& benchmark : suite.benchmarks) prolong(benchmark.rounds);
    return suite;
}

/// The slowed copies stand before the honest sample in every second round.
void add_slowed(std::vector<runner::PlannedSample>& samples, const std::vector<double>& slowdowns) {
    std::vector<runner::PlannedSample> all;
    for (runner::PlannedSample& honest : samples) {
        std::vector<runner::PlannedSample> group = {honest};
        if (honest.spec.provenance == Provenance::measured &&
            honest.spec.experiment != runner::control_experiment)
            for (const double factor : slowdowns) {
                group.push_back(honest);
                group.back().spec.scenario = runner::slowed_scenario(honest.spec.scenario, factor);
                group.back().seconds *= factor;
            }
        if (honest.spec.round % 2 == 1) std::reverse(group.begin(), group.end());
        std::move(group.begin(), group.end(), std::back_inserter(all));
    }
    samples = std::move(all);
}

/// The rows of an arm, honest and slowed ones of one name together.
class Rows {
  public:
    Rows(std::span<const store::Sample> samples, const std::map<RowId, gate::SeriesGate>& gates)
        : gates_(gates) {
        for (const store::Sample& sample : samples) by_id_[sample.id] = &sample;
    }

    void add(const compare::Series& series) {
        const runner::Slowdown slowdown = runner::slowdown_of(series.name.scenario);
        RowId id = series.name;
        id.scenario = slowdown.scenario;
        const auto gate = gates_.find(id.series());
        if (gate == gates_.end() || id.metric.empty()) return;
        if (series.better == Direction::none) return;
        if (!gate->second.metrics.empty() && !gate->second.metrics.contains(id.metric)) return;
        PoolRow& row = row_of(series, id);
        row.gate = gate->second;
        std::vector<double>& values =
            slowdown.factor == 1 ? row.honest : row.slowed[slowdown.factor];
        std::vector<double> seconds;
        for (const compare::Point& point : series.points) {
            const store::Sample& sample = *by_id_.at(point.sample);
            const auto round = static_cast<std::size_t>(sample.spec.round);
            if (values.size() <= round) values.resize(round + 1, missing);
            values[round] = point.value;
            check_seed(row, sample.spec);
            seconds.push_back(sample.seconds);
        }
        if (slowdown.factor == 1 && !seconds.empty()) row.seconds = statistics::median(seconds);
    }

    std::vector<PoolRow> take() { return std::move(rows_); }

  private:
    /// Rounds one night's length apart have equal seeds.
    void check_seed(const PoolRow& row, const SampleSpec& spec) {
        const auto round_of_night = spec.round % row.gate.rounds;
        const auto [at, is_new] =
            seeds_.try_emplace({row.series.name.series(), round_of_night}, spec.seed);
        if (!is_new && at->second != spec.seed)
            throw UserError(fmt::format(
                "{}: the pool was recorded for nights of another number of rounds than {}; record "
                "a new one",
                row.series.name.series_text(), row.gate.rounds));
    }

    PoolRow& row_of(const compare::Series& series, const RowId& id) {
        const auto [at, is_new] = index_.emplace(id, rows_.size());
        if (is_new) {
            PoolRow row;
            row.series = series;
            row.series.points.clear();
            row.series.name = id;
            row.series.context["scenario"] = id.scenario;
            row.series.failed = row.series.excluded = 0;
            rows_.push_back(std::move(row));
        }
        return rows_[at->second];
    }

    const std::map<RowId, gate::SeriesGate>& gates_;
    std::map<std::string, const store::Sample*> by_id_;
    std::vector<PoolRow> rows_;
    std::map<RowId, std::size_t> index_;
    std::map<std::pair<RowId, int>, std::uint64_t> seeds_;  // series, round of the night
};

}  // namespace

gate::NightPlan make_pool_plan(const Registry& registry, const gate::SuiteFile& suite, int rounds,
                               const std::vector<double>& slowdowns) {
    const gate::NightPlan night = gate::make_night_plan(registry, suite);
    int longest = 1;
    for (const auto& [series, gate] : night.gates) longest = std::max(longest, gate.rounds);
    if (longest == 1)
        throw UserError("every row of this suite has one round: there is no noise to qualify");
    if (rounds < fewest_nights * longest)
        throw UserError(
            fmt::format("--rounds {}: at least {} are needed, a baseline and two nights "
                        "of {} rounds",
                        rounds, fewest_nights * longest, longest));
    for (const double factor : slowdowns)
        if (!(factor > 1 && factor <= runner::largest_slowdown))
            throw UserError(
                fmt::format("a slowdown of {:.3g} times: must be above 1, and at most "
                            "{:g}",
                            factor, runner::largest_slowdown));
    gate::NightPlan plan = gate::make_night_plan(registry, prolonged(suite, rounds));
    for (auto& [series, gate] : plan.gates) gate.rounds = night.gates.at(series).rounds;
    for (runner::PlannedSample& sample : plan.plan.samples) {
        const int of_night = plan.gates.at(series_of(sample.spec)).rounds;
        const auto first = sample.spec.seed - static_cast<std::uint64_t>(sample.spec.round);
        sample.spec.seed = first + static_cast<std::uint64_t>(sample.spec.round % of_night);
    }
    add_slowed(plan.plan.samples, slowdowns);
    plan.plan.seconds = plan.plan.bytes = 0;
    for (const runner::PlannedSample& sample : plan.plan.samples) {
        plan.plan.seconds += sample.seconds;
        plan.plan.bytes += sample.bytes;
    }
    plan.plan.hash = runner::plan_hash(plan.plan.samples);
    return plan;
}

Pool make_pool(const compare::Arm& arm, std::span<const store::Sample> samples,
               const std::map<RowId, gate::SeriesGate>& gates) {
    Rows rows(samples, gates);
    for (const compare::Series& series : arm.series) rows.add(series);
    Pool pool;
    for (PoolRow& row : rows.take()) {
        const auto length = static_cast<int>(row.honest.size());
        if (row.series.deterministic || length < fewest_nights * row.gate.rounds) {
            ++(row.series.deterministic ? pool.exact_rows : pool.short_rows);
            continue;
        }
        pool.rounds = std::max(pool.rounds, length);
        pool.rows.push_back(std::move(row));
    }
    for (const store::Sample& sample : samples) {
        pool.seconds += sample.seconds;
        if (pool.first.empty() || sample.started < pool.first) pool.first = sample.started;
        pool.last = std::max(pool.last, sample.started);
    }
    return pool;
}

}  // namespace assay::qualify
