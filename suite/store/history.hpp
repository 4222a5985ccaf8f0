// How one metric of one series went from session to session, as Store::history() tells it. Reads go
// through indexes only: the cost grows with the samples of that series, not with the database.
#pragma once

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

/// What one session says about it.
struct HistoryPoint {
    std::string session;         ///< UUID
    std::string started;         ///< of the session, ISO 8601, UTC
    std::string commit;          ///< the suspects' "commit"; empty where unknown
    nlohmann::json suspects;     ///< commit, compiler, driver … as stored with the session
    std::vector<double> values;  ///< of its ok samples, by seed and round; never empty, all finite
    double median = 0;           ///< of `values`
    int n() const { return static_cast<int>(values.size()); }
};

/// The statements behind Store::history(), series_of() and metrics_of(), so that a test can have
/// their query plans explained.
extern const char* const history_sql;
extern const char* const series_of_sql;
extern const char* const metrics_of_sql;

}  // namespace assay::store
