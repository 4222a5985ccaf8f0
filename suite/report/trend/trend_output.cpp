// Trends for other programs: JSON and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/encoding.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/trend/trend.hpp"
#include "suite/store/ids.hpp"

namespace assay::report {
namespace {

nlohmann::json series_json(const store::SeriesKey& key) {
    return {{"experiment", key.experiment},
            {"variant", key.variant},
            {"axes", to_json(key.axes)},
            {"profile", to_string(key.profile)},
            {"provenance", to_string(key.provenance)},
            {"scenario", key.scenario},
            {"hardware", key.hardware},
            {"calibration", key.calibration},
            {"data", key.data}};
}

nlohmann::json change_json(const Trend& trend, const TrendChange& change) {
    const auto& first = trend.points[static_cast<std::size_t>(change.at.index)];
    nlohmann::json suspects = nlohmann::json::object();
    for (const SuspectChange& suspect : change.suspects)
        suspects[suspect.name] = {suspect.before, suspect.after};
    return {{"index", change.at.index},
            {"session", first.session},
            {"started", first.started},
            {"commit", first.commit},
            {"before", change.at.before},
            {"after", change.at.after},
            {"relative_change", change.at.relative_change()},  // infinite from zero: null
            {"p", change.at.p},
            {"turn", to_string(change.turn)},
            {"suspects", suspects}};
}

}  // namespace

nlohmann::json trend_json(const Trend& trend) {
    nlohmann::json points = nlohmann::json::array(), changes = nlohmann::json::array();
    for (const store::HistoryPoint& point : trend.points)
        points.push_back({{"session", point.session},
                          {"started", point.started},
                          {"commit", point.commit},
                          {"median", point.median},
                          {"n", point.n()},
                          {"values", point.values}});
    for (const TrendChange& change : trend.changes) changes.push_back(change_json(trend, change));
    nlohmann::json newest;
    if (trend.newest)
        newest = {{"change", trend.newest->change},
                  {"threshold", trend.newest->threshold},
                  {"unusual", trend.newest->unusual}};
    return {{"series", series_json(trend.series)},
            {"metric", trend.metric.name},
            {"labels", to_json(trend.metric.labels)},
            {"unit", trend.unit},
            {"better", to_string(trend.better)},
            {"points", points},
            {"left_out", trend.left_out},
            {"changes", changes},
            {"newest", newest},
            {"ended", trend.end ? nlohmann::json{{"last_seen", trend.points.back().started},
                                                 {"sessions_ago", trend.end->sessions_ago}}
                                : nlohmann::json()}};
}

nlohmann::json trends_json(const std::vector<Trend>& trends) {
    std::vector<RowId> ids;
    for (const Trend& trend : trends) ids.push_back(store::row_id(trend.series, trend.metric));
    const RowNames names(ids);
    nlohmann::json array = nlohmann::json::array();
    for (std::size_t i = 0; i < trends.size(); ++i) {
        array.push_back(trend_json(trends[i]));
        array.back()["row"] = names.of(ids[i]).text();
    }
    return array;
}

std::string trends_csv(const std::vector<Trend>& trends) {
    std::set<std::string> axes;
    for (const Trend& trend : trends)
        for (const auto& [axis, value] : trend.series.axes) axes.insert(axis);
    std::vector<std::string> header{"experiment", "variant"};
    header.insert(header.end(), axes.begin(), axes.end());
    for (const char* name : {"profile", "provenance", "scenario", "hardware", "calibration", "data",
                             "metric", "labels", "unit", "session", "started", "commit", "n",
                             "median", "low", "high", "change_point"})
        header.emplace_back(name);
    std::string out = csv_line(header);
    for (const Trend& trend : trends) {
        const store::SeriesKey& key = trend.series;
        std::vector<std::string> start{key.experiment, key.variant};
        for (const std::string& axis : axes) {
            const auto found = key.axes.find(axis);
            start.push_back(found == key.axes.end() ? "" : assay::to_string(found->second));
        }
        for (const std::string& field :
             {std::string(to_string(key.profile)), std::string(to_string(key.provenance)),
              key.scenario, key.hardware, key.calibration, key.data, trend.metric.name,
              assay::to_string(trend.metric.labels), trend.unit})
            start.push_back(field);
        for (std::size_t i = 0; i < trend.points.size(); ++i) {
            const store::HistoryPoint& point = trend.points[i];
            const auto [low, high] = std::minmax_element(point.values.begin(), point.values.end());
            const bool change = std::any_of(
                trend.changes.begin(), trend.changes.end(),
                [&](const TrendChange& c) { return c.at.index == static_cast<int>(i); });
            std::vector<std::string> row = start;
            for (const std::string& field :
                 {point.session, point.started, point.commit, std::to_string(point.n()),
                  fmt::format("{}", point.median), fmt::format("{}", *low),
                  fmt::format("{}", *high), std::string(change ? "1" : "0")})
                row.push_back(field);
            out += csv_line(row);
        }
    }
    return out;
}

}  // namespace assay::report
