#include "suite/gate/qualify/resampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/base/error.hpp"
#include "suite/gate/night_verdict.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::qualify {
namespace {

/// Quiet nights before a slowdown: enough for the history rule.
constexpr int nights_of_history = 10;

double value_of(const PoolRow& row, int round, Injected injected) {
    const auto at = static_cast<std::size_t>(round);
    if (injected.factor != 1 && injected.recorded) {
        const std::vector<double>& slowed = row.slowed.at(injected.factor);
        return at < slowed.size() ? slowed[at] : std::nan("");
    }
    if (at >= row.honest.size()) return std::nan("");
    return row.series.better == Direction::higher ? row.honest[at] / injected.factor
                                                  : row.honest[at] * injected.factor;
}

void add_point(compare::Series& series, double value, int pair) {
    if (std::isfinite(value)) series.points.push_back({value, std::to_string(pair), ""});
}

/// The row in a night that begins with round `first`.
compare::Series series_of(const PoolRow& row, int first, Injected injected) {
    compare::Series series = row.series;
    for (int round = first; round < first + row.gate.rounds; ++round)
        add_point(series, value_of(row, round, injected), round % row.gate.rounds);
    return series;
}

std::optional<double> median_of(const PoolRow& row, int first) {
    std::vector<double> values;
    for (const compare::Point& point : series_of(row, first, {}).points)
        values.push_back(point.value);
    if (values.empty()) return std::nullopt;
    return statistics::median(values);
}

compare::Arm arm_of(const std::vector<const PoolRow*>& rows, int first, Injected injected) {
    compare::Arm arm;
    for (const PoolRow* row : rows)
        arm.series.push_back(series_of(*row, first, row->gate.control ? Injected{} : injected));
    return arm;
}

const PoolRow* find_row(const std::vector<const PoolRow*>& rows, const RowId& wanted) {
    for (const PoolRow* row : rows)
        if (row->series.name == wanted) return row;
    return nullptr;
}

/// A computed number that has not changed: decided, and in no mean.
gate::NightRow exact_row() {
    gate::NightRow row;
    row.against_baseline.verdict = compare::RowVerdict::same;
    row.against_baseline.reason_code = compare::Reason::identical;
    row.evidence = gate::Evidence::same;
    return row;
}

bool is_rerun(const gate::NightRow& row) { return row.candidate || row.rerun_for_mean; }

/// As store::Nights tells the next night.
void remember(gate::RowPast& past, const gate::NightRow& row, std::optional<double> median) {
    past.same_before = row.evidence == gate::Evidence::same;
    past.state = row.step.to;
    const bool open = row.candidate && row.evidence == gate::Evidence::none;
    if (row.evidence != gate::Evidence::slower && !open && median) past.medians.push_back(*median);
}

}  // namespace

Resampling::Resampling(const Pool& pool, const gate::SuiteFile& suite, std::uint64_t seed)
    : pool_(pool), suite_(suite), length_(1), draws_(seed) {
    for (const PoolRow& row : pool.rows) length_ = std::max(length_, row.gate.rounds);
    if (pool.rounds < 3 * length_)
        throw UserError(fmt::format("a pool of {} rounds: at least {} are needed, three nights",
                                    pool.rounds, 3 * length_));
}

std::vector<const PoolRow*> Resampling::all_rows() const {
    std::vector<const PoolRow*> rows;
    for (const PoolRow& row : pool_.rows) rows.push_back(&row);
    return rows;
}

Resampling::Drawn Resampling::draw(std::vector<const PoolRow*> rows) {
    Drawn drawn;
    drawn.baseline =
        static_cast<int>(draws_.index(static_cast<std::uint32_t>(pool_.rounds - length_ + 1)));
    for (const PoolRow* row : rows) drawn.gates[row->series.name.series()] = row->gate;
    drawn.rows = std::move(rows);
    // The baseline's night is the first of the history.
    for (const PoolRow* row : drawn.rows)
        if (const auto median = median_of(*row, drawn.baseline))
            drawn.past[row->series.name].medians = {*median};
    return drawn;
}

int Resampling::draw_night(const Drawn& drawn) {
    for (;;) {
        const int first =
            static_cast<int>(draws_.index(static_cast<std::uint32_t>(pool_.rounds - length_ + 1)));
        if (std::abs(first - drawn.baseline) >= length_) return first;
    }
}

gate::Night Resampling::night(Drawn& drawn, Injected injected) {
    const compare::Arm baseline = arm_of(drawn.rows, drawn.baseline, {});
    const compare::Arm tonight = arm_of(drawn.rows, draw_night(drawn), injected);
    gate::RowInputs inputs;
    inputs.baseline = &baseline;
    inputs.tonight = &tonight;
    inputs.gates = &drawn.gates;
    inputs.past = drawn.past;
    inputs.old_program = true;
    gate::Night night;
    night.margin = suite_.margin;
    night.baseline_session = "the pool";
    night.rows = gate::night_rows(inputs);
    for (const gate::NightRow& row : night.rows)
        if (const auto slower = gate::control_slowdown(row.against_baseline);
            slower && drawn.gates.at(row.against_baseline.id.series()).control)
            night.control[row.against_baseline.id.metric_text()] = *slower;
    gate::mark_for_mean(night);
    rerun(night, drawn, injected);
    for (gate::NightRow& row : night.rows) {
        compare::Row& against = row.against_baseline;
        gate::RowPast& past = drawn.past[against.id];
        row.evidence = gate::evidence_of(row);
        row.step = gate::after_night(past.state, row.evidence, past.same_before);
        remember(past, row, gate::median_tonight(against));
        against.a = against.b = nullptr;  // into arms that go
    }
    for (int i = 0; i < pool_.exact_rows; ++i) night.rows.push_back(exact_row());
    gate::judge(night);
    return night;
}

void Resampling::rerun(gate::Night& night, const Drawn& drawn, Injected injected) {
    std::set<RowId> candidates;  // their series
    for (const gate::NightRow& row : night.rows)
        if (is_rerun(row)) candidates.insert(row.against_baseline.id.series());
    for (gate::NightRow& row : night.rows) {
        if (!is_rerun(row)) continue;
        const PoolRow& of = *find_row(drawn.rows, row.against_baseline.id);
        if (of.gate.control) {
            // The control is run again and compared with the baseline's values.
            const compare::Arm a{"", {*row.against_baseline.a}, {}};
            compare::Arm b = arm_of({&of}, draw_night(drawn), {});
            for (compare::Point& point : b.series.front().points) point.pair.clear();
            compare::Options options;
            options.margin = row.against_baseline.margin;
            row.rerun = compare::compare(a, b, options).at(0);
        } else {
            const double share = suite_.rerun_budget_s / static_cast<double>(candidates.size());
            const double pairs = of.seconds > 0 ? share / (2 * of.seconds) : pool_.rounds;
            row.rerun =
                rerun_in_turns(of, row.margin, static_cast<int>(std::min(pairs, 1e6)), injected);
            row.rerun_paired = true;
        }
        row.rerun->a = row.rerun->b = nullptr;
    }
}

compare::Row Resampling::rerun_in_turns(const PoolRow& row, double margin, int rounds,
                                        Injected injected) {
    runner::DecisionOptions decision;
    decision.margin = margin;
    const stopping::Stopping rule = runner::stopping_rule(decision);
    // Rounds that have a second one, a night later.
    const auto firsts = static_cast<std::uint32_t>(pool_.rounds - row.gate.rounds);
    rounds = std::min(rounds, decision.max_rounds);
    compare::Series old_values = row.series, new_values = row.series;
    stopping::Question question;
    question.margin = margin;
    for (int pair = 0; pair < rounds; ++pair) {
        const int first = static_cast<int>(draws_.index(firsts)), second = first + row.gate.rounds;
        const bool older_is_old = draws_.index(2) == 0;
        const double a = value_of(row, older_is_old ? first : second, {});
        const double b = value_of(row, older_is_old ? second : first, injected);
        if (!std::isfinite(a) || !std::isfinite(b)) continue;
        add_point(old_values, a, pair);
        add_point(new_values, b, pair);
        question.ratios.push_back(stopping::pair_ratio(a, b));
    }
    runner::Contrast contrast;
    contrast.experiment = row.series.name.experiment;
    contrast.axes = row.series.name.axes;
    contrast.variant = row.series.name.variant;
    contrast.metric = {row.series.name.metric, row.series.name.labels};
    contrast.better = row.series.better;
    contrast.answer = rule.answer(question);
    contrast.rounds = contrast.answer.pairs;
    // The rounds end when the verdict stands.
    const auto used = static_cast<std::size_t>(contrast.answer.pairs);
    old_values.points.resize(std::min(used, old_values.points.size()));
    new_values.points.resize(std::min(used, new_values.points.size()));
    const compare::Arm a{"", {std::move(old_values)}, {}}, b{"", {std::move(new_values)}, {}};
    compare::Options options;
    options.margin = margin;
    const auto rows = runner::versus_rows(compare::compare(a, b, options), {contrast});
    compare::Row result = rows.at(0);
    result.a = result.b = nullptr;
    return result;
}

void Resampling::quiet_campaign(int nights, QuietNights& counts) {
    Drawn drawn = draw(all_rows());
    for (int n = 0; n < nights; ++n) {
        const gate::Night tonight = night(drawn, {});
        ++counts.nights;
        if (tonight.verdict == gate::NightVerdict::regression) ++counts.failed;
        if (tonight.verdict == gate::NightVerdict::ambiguous) ++counts.ambiguous;
        if (std::any_of(tonight.rows.begin(), tonight.rows.end(), gate::is_warning))
            ++counts.warned;
        for (const gate::NightRow& row : tonight.rows) {
            if (!row.candidate) continue;
            ++counts.candidates;
            if (row.evidence != gate::Evidence::slower) ++counts.rerun_away;
        }
    }
}

bool Resampling::confirms(const PoolRow& row, Injected injected) {
    Drawn drawn = draw({&row});
    gate::RowPast& past = drawn.past[row.series.name];
    for (int n = 0; n < nights_of_history; ++n) {
        if (const auto median = median_of(row, draw_night(drawn))) past.medians.push_back(*median);
    }
    past.same_before = true;
    night(drawn, injected);
    const gate::Night second = night(drawn, injected);
    return std::any_of(second.rows.begin(), second.rows.end(), gate::is_regression);
}

bool Resampling::mean_fails(Injected injected) {
    Drawn drawn = draw(all_rows());
    return gate::mean_beyond_margin(night(drawn, injected));
}

double Resampling::spread(const PoolRow& row) {
    std::vector<double> medians;
    for (int first = 0; first + row.gate.rounds <= pool_.rounds; first += row.gate.rounds)
        if (const auto median = median_of(row, first)) medians.push_back(*median);
    constexpr std::size_t fewest = 5;  // of gate::own_spread()
    return medians.size() < fewest ? std::nan("") : gate::own_spread(medians);
}

}  // namespace assay::qualify
