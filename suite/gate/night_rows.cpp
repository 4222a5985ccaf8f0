#include "suite/gate/night_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "suite/measure/statistics/history_rule.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::gate {
namespace {

/// Fewer nights, and their spread would be a guess.
constexpr std::size_t fewest_nights_for_spread = 5;
/// Older nights say little about today's machine.
constexpr std::size_t most_nights_for_spread = 20;

bool is_gated(const RowId& row, const SeriesGate& gate) {
    return gate.metrics.empty() || row.metric.empty() || gate.metrics.contains(row.metric);
}

/// Null: the suite does not run the row.
const SeriesGate* gate_of(const RowId& row, const RowInputs& inputs) {
    if (const auto gate = inputs.gates->find(row.series()); gate != inputs.gates->end())
        return is_gated(row, gate->second) ? &gate->second : nullptr;
    for (const LeftOut& left_out : inputs.left_out)
        if (left_out.experiment == row.experiment && left_out.profile == row.profile &&
            (!left_out.provenance || left_out.provenance == row.provenance) &&
            is_gated(row, left_out.gate))
            return &left_out.gate;
    return nullptr;
}

compare::Options options_of(const RowInputs& inputs) {
    compare::Options options;
    options.margin = 1;
    options.whole_ids = true;
    for (const auto& [series, gate] : *inputs.gates) {
        options.margin = std::min(options.margin, gate.margin);
        options.margins[series] = gate.margin;
    }
    for (const auto& [row, past] : inputs.past) {
        const auto gate = inputs.gates->find(row.series());
        if (gate == inputs.gates->end()) continue;
        options.margins[row] = std::max(gate->second.margin, own_spread(past.medians));
    }
    return options;
}

void look_at_history(NightRow& row, const RowPast& past) {
    const compare::Row& against = row.against_baseline;
    const auto median = median_tonight(against);
    const bool positive =
        median && *median > 0 && std::isfinite(*median) &&
        std::all_of(past.medians.begin(), past.medians.end(), [](double m) { return m > 0; });
    if (!positive) return;
    statistics::HistoryOptions options;
    options.floor = against.margin;
    const auto verdict = statistics::unusual(past.medians, *median, options);
    if (!verdict) return;
    row.history_change = verdict->change;
    row.history_threshold = verdict->threshold;
}

/// Worth a rerun: slower beyond the margin as far as the median of the ratios tells. Whether it
/// really is, reruns find out, with pairs made seconds apart and as many as it takes. Demanded of
/// the interval of so few values already, two disturbed rounds of nine would hide a slowdown
/// (`assay qualify` on a shared machine: 80 % of the slowdowns by 10 % found, instead of 96 %).
bool suspicious(const compare::Row& row) {
    if (row.verdict == compare::RowVerdict::slower) return true;
    if (row.reason_code != compare::Reason::straddles_margin &&
        row.reason_code != compare::Reason::bimodal)
        return false;
    const double above = 1 + row.margin;
    return row.better == Direction::lower    ? row.ratio > above
           : row.better == Direction::higher ? row.ratio < 1 / above
                                             : false;
}

NightRow not_run(const RowId& id, bool left_out) {
    NightRow row;
    compare::Row& against = row.against_baseline;
    against.id = id;
    against.ratio = against.low = against.high = std::numeric_limits<double>::quiet_NaN();
    against.verdict = compare::RowVerdict::not_comparable;
    against.reason_code = compare::Reason::only_in_a;
    against.reason = left_out ? "not run tonight: its experiment was left out"
                              : "not run tonight: the suite has it no more";
    return row;
}

/// A regression that is open must not go out of sight: not where all samples of a series failed on
/// both sides, so that one row stands for all its metrics, nor where nobody runs its row any more.
void add_open_rows(std::vector<NightRow>& rows, const RowInputs& inputs) {
    std::map<RowId, std::size_t> index;
    std::set<RowId> replaced;
    for (std::size_t i = 0; i < rows.size(); ++i) index.emplace(rows[i].against_baseline.id, i);
    for (const auto& [id, past] : inputs.past) {
        if (past.state != State::candidate && past.state != State::confirmed) continue;
        const auto stands_in = index.find(id.series());
        if (index.contains(id)) continue;
        NightRow row = stands_in == index.end() ? not_run(id, gate_of(id, inputs) != nullptr)
                                                : rows[stands_in->second];
        if (stands_in != index.end()) replaced.insert(id.series());
        row.against_baseline.id = id;
        row.muted = inputs.muted(id);
        rows.push_back(std::move(row));
    }
    std::erase_if(rows,
                  [&](const NightRow& row) { return replaced.contains(row.against_baseline.id); });
}

}  // namespace

double own_spread(const std::vector<double>& medians) {
    if (medians.size() < fewest_nights_for_spread) return 0;
    std::vector<double> distances;
    const std::size_t first = medians.size() - std::min(medians.size(), most_nights_for_spread);
    for (std::size_t i = first; i < medians.size(); ++i)
        for (std::size_t j = first; j < i; ++j) {
            const auto [low, high] = std::minmax(medians[i], medians[j]);
            if (low > 0) distances.push_back(high / low - 1);
        }
    return distances.empty() ? 0 : statistics::quantile(distances, 0.9);
}

std::vector<NightRow> night_rows(const RowInputs& inputs) {
    static const compare::Arm nothing;
    const compare::Arm& baseline = inputs.baseline ? *inputs.baseline : nothing;
    std::vector<NightRow> rows;
    for (compare::Row& against : compare::compare(baseline, *inputs.tonight, options_of(inputs))) {
        const SeriesGate* gate = gate_of(against.id, inputs);
        if (gate == nullptr) continue;
        NightRow row;
        row.muted = inputs.muted(against.id);
        row.margin = gate->margin;
        row.against_baseline = std::move(against);
        const auto past = inputs.past.find(row.against_baseline.id);
        if (past != inputs.past.end()) look_at_history(row, past->second);
        const bool usual = row.history_change && *row.history_change <= *row.history_threshold;
        const bool exact = row.against_baseline.reason_code == compare::Reason::changed;
        row.candidate = suspicious(row.against_baseline) && (exact || inputs.old_program || !usual);
        rows.push_back(std::move(row));
    }
    add_open_rows(rows, inputs);
    return rows;
}

bool is_not_run(const NightRow& row) {
    const compare::Row& against = row.against_baseline;
    return against.reason_code == compare::Reason::only_in_a && against.a == nullptr;
}

std::vector<RowId> rows_that_left(const RowInputs& inputs, const std::set<RowId>& suite) {
    std::vector<RowId> left;
    if (inputs.baseline == nullptr) return left;
    for (const compare::Series& series : inputs.baseline->series)
        if (!series.points.empty() && suite.contains(series.name) &&
            gate_of(series.name, inputs) == nullptr)
            left.push_back(series.name);
    return left;
}

std::optional<double> median_tonight(const compare::Row& row) {
    if (row.b == nullptr) return std::nullopt;
    std::vector<double> values;
    for (const compare::Point& point : row.b->points)
        if (std::isfinite(point.value)) values.push_back(point.value);
    if (values.empty()) return std::nullopt;
    return statistics::median(values);
}

Evidence evidence_of(const NightRow& row) {
    using compare::RowVerdict;
    if (!row.candidate) {
        const RowVerdict verdict = row.against_baseline.verdict;
        return verdict == RowVerdict::same || verdict == RowVerdict::faster ? Evidence::same
                                                                            : Evidence::none;
    }
    if (row.muted) return Evidence::slower;  // not worth a rerun
    if (!row.rerun) return Evidence::none;
    switch (row.rerun->verdict) {
        case RowVerdict::slower:
            return Evidence::slower;
        case RowVerdict::same:
        case RowVerdict::faster:
            return Evidence::not_again;
        case RowVerdict::ambiguous:
        case RowVerdict::not_comparable:
        case RowVerdict::failed:
        case RowVerdict::failed_before:
            break;
    }
    return Evidence::none;
}

}  // namespace assay::gate
