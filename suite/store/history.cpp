// One metric of one series through time: see history.hpp.
#include "suite/store/history.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "suite/measure/statistics/quantile.hpp"
#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/series_id.hpp"

namespace assay::store {

const char* const history_sql =
    "SELECT session.id, session.started, session.suspects, metric.value FROM sample "
    "JOIN session ON session.id = sample.session "
    "JOIN metric ON metric.sample = sample.id AND metric.name = ?2 AND metric.labels = ?3 "
    "WHERE sample.series = ?1 AND sample.status = 'ok' AND session.started >= ?4 "
    "ORDER BY session.started, session.id, sample.seed, sample.round";

const char* const series_of_sql =
    "SELECT experiment, variant, axes, profile, provenance, scenario, hardware, calibration, data "
    "FROM series WHERE experiment = ? AND EXISTS (SELECT 1 FROM sample "
    "WHERE sample.series = series.id AND sample.status = 'ok') "
    "ORDER BY variant, axes, profile, provenance, scenario, hardware, calibration, data";

const char* const metrics_of_sql =
    "SELECT DISTINCT metric.name, metric.labels FROM sample "
    "JOIN metric ON metric.sample = sample.id "
    "WHERE sample.series = ? AND sample.status = 'ok'";

std::vector<HistoryPoint> Store::history(const SeriesKey& key, const MetricKey& metric,
                                         std::string_view since) const {
    return impl_->database.read("read the history", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, history_sql);
        rows.bind(1, series_id(series_columns(key)));
        rows.bind(2, metric.name);
        rows.bind(3, canonical(metric.labels));
        bind_text(rows, 4, since);
        std::vector<HistoryPoint> points;
        while (rows.executeStep()) {
            const double value = real_or_nan(rows.getColumn(3));
            if (!std::isfinite(value)) continue;
            auto session = rows.getColumn(0).getString();
            if (points.empty() || points.back().session != session) {
                HistoryPoint point;
                point.session = std::move(session);
                point.started = rows.getColumn(1).getString();
                point.suspects = nlohmann::json::parse(rows.getColumn(2).getString());
                if (const auto commit = point.suspects.find("commit");
                    commit != point.suspects.end() && commit->is_string())
                    point.commit = commit->get<std::string>();
                points.push_back(std::move(point));
            }
            points.back().values.push_back(value);
        }
        for (auto& point : points) point.median = statistics::median(point.values);
        return points;
    });
}

std::vector<std::string> Store::experiments() const {
    return impl_->database.read("list the experiments", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, "SELECT DISTINCT experiment FROM series ORDER BY experiment");
        std::vector<std::string> ids;
        while (rows.executeStep()) ids.push_back(rows.getColumn(0).getString());
        return ids;
    });
}

std::vector<SeriesKey> Store::series_of(std::string_view experiment) const {
    return impl_->database.read("list the series", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, series_of_sql);
        bind_text(rows, 1, experiment);
        std::vector<SeriesKey> all;
        while (rows.executeStep()) {
            const auto text = [&](int column) { return rows.getColumn(column).getString(); };
            const auto profile = parse_profile(text(3));
            const auto provenance = parse_provenance(text(4));
            if (!profile || !provenance)
                throw std::invalid_argument("a series with an unknown profile or provenance");
            all.push_back({text(0), text(1), case_from_text(text(2)), *profile, *provenance,
                           text(5), text(6), text(7), text(8)});
        }
        return all;
    });
}

std::vector<MetricKey> Store::metrics_of(const SeriesKey& key) const {
    return impl_->database.read("list the metrics", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, metrics_of_sql);
        rows.bind(1, series_id(series_columns(key)));
        std::vector<MetricKey> all;
        while (rows.executeStep())
            all.push_back(
                {rows.getColumn(0).getString(), case_from_text(rows.getColumn(1).getString())});
        std::sort(all.begin(), all.end());
        return all;
    });
}

}  // namespace assay::store
