// How metrics of series went from session to session, as Store::histories() tells it. Reads go
// through indexes only: the cost grows with the samples of those series, not with the database.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {

/// Which numbers of a sample: a metric's name and labels.
struct MetricKey {
    std::string name;
    Labels labels;
    auto operator<=>(const MetricKey&) const = default;
};

/// What a value was made with: values of unequal ones may differ for no other reason.
struct Draw {
    std::uint64_t seed = 0;
    int round = 0;
    auto operator<=>(const Draw&) const = default;
};

/// What one session says about it.
struct HistoryPoint {
    std::string session;  ///< UUID
    std::string started;  ///< of the session, ISO 8601, UTC
    long place = 0;       ///< of the session in Store::places(): the order of the points
    std::string commit;   ///< the suspects' "commit"; empty where unknown
    /// Commit, compiler, driver … as stored with the session, shared by all points of it; not null.
    std::shared_ptr<const nlohmann::json> suspects;
    std::vector<double> values;  ///< of its ok samples, by seed and round; never empty, all finite
    std::vector<Draw> draws;     ///< of the values, one each
    double median = 0;           ///< of `values`
    int n() const { return static_cast<int>(values.size()); }
};

/// One metric of one series. One point per session that has an ok sample with a finite value, in
/// the order in which the sessions were recorded, whatever their state.
struct SeriesHistory {
    SeriesKey series;
    MetricKey metric;
    std::vector<HistoryPoint> points;  ///< never empty
};

/// What to read of an experiment. A function that is not there accepts everything; each is asked
/// once per series, and per metric of a series.
struct HistoryFilter {
    std::function<bool(const SeriesKey&)> series;
    std::function<bool(const SeriesKey&, const MetricKey&)> metric;
    /// Only sessions that started at or after this ISO 8601 text, of which a beginning ("2026-11")
    /// is enough; empty: all.
    std::string since;
};

/// The statements behind Store::histories(), series_of() and metrics_of(), so that a test can have
/// their query plans explained.
extern const char* const session_after_sql;
extern const char* const history_sql;
extern const char* const series_of_sql;
extern const char* const metrics_of_sql;

}  // namespace assay::store
