#include "suite/report/trend/trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/measure/statistics/quantile.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/store/ids.hpp"

namespace assay::report {
namespace {

std::string suspect_text(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<double> medians(const std::vector<store::HistoryPoint>& points) {
    std::vector<double> values;
    for (const store::HistoryPoint& point : points) values.push_back(point.median);
    return values;
}

using Draws = std::set<store::Draw>;

Draws draws_of(const store::HistoryPoint& point) {
    return {point.draws.begin(), point.draws.end()};
}

Draws in_both(const Draws& a, const Draws& b) {
    Draws both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    return both;
}

void keep_only(store::HistoryPoint& point, const Draws& wanted) {
    std::vector<double> values;
    std::vector<store::Draw> draws;
    for (std::size_t i = 0; i < point.draws.size(); ++i)
        if (wanted.contains(point.draws[i])) {
            values.push_back(point.values[i]);
            draws.push_back(point.draws[i]);
        }
    point.values = std::move(values);
    point.draws = std::move(draws);
    point.median = statistics::median(point.values);
}

std::string session_words(const store::HistoryPoint& point) {
    return fmt::format("session {:.8} of {:.10}", point.session, point.started);
}

/// Leaves the points with what they have in common, see make_trend(). Returns the sentences.
std::vector<std::string> compare_alike(std::vector<store::HistoryPoint>& points,
                                       bool deterministic) {
    /// Fewer values of a noisy metric say too little for the sake of one more session.
    constexpr std::size_t enough = 3;
    if (points.empty()) return {};
    std::vector<std::string> sentences;
    Draws common = draws_of(points.back());
    std::vector<store::HistoryPoint> alike;
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        const Draws both = in_both(common, draws_of(*point));
        if (both.size() < (deterministic ? 1 : std::min(common.size(), enough))) {
            sentences.push_back(fmt::format(
                "{} is left out: it has {} of the {} seeds and rounds of the sessions after it, "
                "and others have other values",
                session_words(*point), both.size(), common.size()));
            continue;
        }
        common = both;
        alike.push_back(std::move(*point));
    }
    points.assign(std::make_move_iterator(alike.rbegin()), std::make_move_iterator(alike.rend()));
    std::size_t narrowed = 0;
    for (store::HistoryPoint& point : points) {
        if (point.draws.size() == common.size()) continue;
        keep_only(point, common);
        ++narrowed;
    }
    if (narrowed > 0)
        sentences.push_back(fmt::format(
            "compared on the {} seeds and rounds that all of these sessions have; {} of them {} "
            "more",
            common.size(), narrowed, narrowed == 1 ? "has" : "have"));
    return sentences;
}

Turn turn_of(double before, double after, Direction better) {
    if (better == Direction::none || before == after) return Turn::neither;
    return (after > before) == (better == Direction::higher) ? Turn::better : Turn::worse;
}

}  // namespace

std::string Trend::title() const {
    const RowName name = row_name(store::row_id(series, metric));
    return name.series + (name.metric.empty() ? "" : ": " + number());
}

std::string Trend::number() const {
    // The name of a suite's benchmark has the label already.
    return benchmark_name(store::row_id(series, metric)) ? metric.name
                                                         : metric_key(metric.name, metric.labels);
}

std::string Trend::context() const {
    std::string text =
        fmt::format("{}, {}", to_string(series.profile), to_string(series.provenance));
    if (!series.scenario.empty()) text += ", faults " + series.scenario;
    for (const auto& [name, hash] : {std::pair("machine", series.hardware),
                                     {"calibration", series.calibration},
                                     {"data", series.data}})
        if (!hash.empty()) text += fmt::format(", {} {}", name, short_hash(hash));
    return text;
}

std::string Trend::quantity() const {
    const bool titled = row_name(store::row_id(series, metric)).metric.empty();
    std::string text = titled ? metric.name : number();
    if (!unit.empty()) text += ", " + unit;
    if (better != Direction::none) text += fmt::format(" ({} is better)", to_string(better));
    return text;
}

TrendOptions usual_trend_options() {
    TrendOptions options;
    options.changes.min_magnitude = 0.01;
    return options;
}

Trend make_trend(const Experiment* experiment, store::SeriesKey series, store::MetricKey metric,
                 std::vector<store::HistoryPoint> points, const TrendOptions& options) {
    Trend trend;
    trend.series = std::move(series);
    trend.metric = std::move(metric);
    trend.points = std::move(points);
    auto sensitivity = options.changes;
    bool deterministic = false;
    if (const MetricSpec* declared = experiment ? experiment->metric(trend.metric.name) : nullptr) {
        trend.unit = declared->unit;
        trend.better = declared->better;
        deterministic = declared->is_deterministic(trend.series.provenance);
        if (deterministic) sensitivity.min_magnitude = 0;
    }
    trend.left_out = compare_alike(trend.points, deterministic);
    std::vector<double> values = medians(trend.points);
    for (const auto& at : statistics::change_points(values, sensitivity)) {
        const auto after = trend.points.begin() + at.index;
        trend.changes.push_back({at, turn_of(at.before, at.after, trend.better),
                                 differing_suspects(*(after - 1)->suspects, *after->suspects)});
    }
    if (values.empty()) return trend;
    const double newest = values.back();
    values.pop_back();
    trend.newest = statistics::unusual(values, newest, options.rule);
    return trend;
}

std::vector<SuspectChange> differing_suspects(const nlohmann::json& before,
                                              const nlohmann::json& after) {
    std::vector<SuspectChange> changes;
    if (!before.is_object() || !after.is_object()) return changes;
    for (const auto& [name, value] : after.items()) {
        const auto earlier = before.find(name);
        if (earlier == before.end() || *earlier == value) continue;
        changes.push_back({name, suspect_text(*earlier), suspect_text(value)});
    }
    return changes;
}

std::string change_text(const statistics::ChangePoint& at) {
    if (at.before == 0) return "from 0";
    const double change = at.relative_change();
    if (change >= 1) return fmt::format("×{:.3g}", at.after / at.before);
    return fmt::format("{:+.{}f} %", 100 * change, std::abs(change) < 0.0995 ? 1 : 0);
}

std::string end_text(const Trend& trend) {
    if (!trend.end || trend.points.empty()) return {};
    return fmt::format("ended: last seen on {:.10}, {} sessions ago", trend.points.back().started,
                       trend.end->sessions_ago);
}

std::string newest_text(const Trend& trend, const statistics::HistoryOptions& rule) {
    const std::string end = trend.end ? end_text(trend) + "; " : "";
    if (!trend.newest)
        return fmt::format(
            "{}too few sessions for the history rule: {} before the newest, it needs {}", end,
            trend.points.empty() ? 0 : trend.points.size() - 1, rule.smallest);
    return fmt::format(
        "{}{}: {:.2g} % from the median of the {} before it; unusual is more than {:.2g} %", end,
        trend.newest->unusual ? "unusual" : "within its usual range", 100 * trend.newest->change,
        rule.compared_to, 100 * trend.newest->threshold);
}

}  // namespace assay::report
