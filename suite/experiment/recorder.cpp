// Names of sample states.
#include "suite/experiment/recorder.hpp"

namespace assay {

void MemoryRecorder::metric(std::string_view name, double value, const Labels& labels) {
    metrics.push_back({std::string(name), value, labels});
}

void MemoryRecorder::event(std::string_view kind, double t_s, int rank,
                           const nlohmann::json& detail) {
    events.push_back({std::string(kind), t_s, rank, detail});
}

namespace {

void demand_equal_lengths(std::string_view name, std::span<const double> t_s,
                          std::span<const double> values) {
    if (t_s.size() != values.size())
        throw std::invalid_argument("time series '" + std::string(name) +
                                    "': " + std::to_string(t_s.size()) + " times but " +
                                    std::to_string(values.size()) + " values");
}

}  // namespace

void MemoryRecorder::time_series(std::string_view name, std::string_view unit,
                                 std::span<const double> t_s, std::span<const double> values,
                                 const Labels& labels) {
    demand_equal_lengths(name, t_s, values);
    time_series_kept.push_back({std::string(name),
                                std::string(unit),
                                {t_s.begin(), t_s.end()},
                                {values.begin(), values.end()},
                                labels});
}

void MemoryRecorder::append_series(std::string_view name, std::string_view unit,
                                   std::span<const double> t_s, std::span<const double> values,
                                   const Labels& labels) {
    demand_equal_lengths(name, t_s, values);
    for (TimeSeries& curve : time_series_kept) {
        if (!curve.grows || curve.name != name || curve.labels != labels) continue;
        if (curve.unit != unit)
            throw std::invalid_argument("time series '" + std::string(name) + "': in '" +
                                        curve.unit + "' first and in '" + std::string(unit) +
                                        "' later");
        curve.t_s.insert(curve.t_s.end(), t_s.begin(), t_s.end());
        curve.values.insert(curve.values.end(), values.begin(), values.end());
        return;
    }
    time_series(name, unit, t_s, values, labels);
    time_series_kept.back().grows = true;
}

void MemoryRecorder::table(std::string_view name, std::span<const TableColumn> columns,
                           const std::vector<std::vector<Value>>& rows) {
    for (const auto& row : rows)
        if (row.size() != columns.size())
            throw std::invalid_argument("table '" + std::string(name) + "': a row has " +
                                        std::to_string(row.size()) + " values for " +
                                        std::to_string(columns.size()) + " columns");
    tables.push_back({std::string(name), {columns.begin(), columns.end()}, rows});
}

void MemoryRecorder::artifact(std::string_view name, std::string_view media_type,
                              std::string_view bytes) {
    artifacts.push_back({std::string(name), std::string(media_type), std::string(bytes)});
}

void MemoryRecorder::progress(double fraction, std::string_view) { last_progress = fraction; }

double MemoryRecorder::value(std::string_view name, const Labels& labels) const {
    const Metric* found = nullptr;
    for (const Metric& metric : metrics) {
        if (metric.name != name || metric.labels != labels) continue;
        if (found) throw std::out_of_range(metric_key(name, labels) + " was recorded twice");
        found = &metric;
    }
    if (!found) throw std::out_of_range(metric_key(name, labels) + " was not recorded");
    return found->value;
}

}  // namespace assay
