// Reads the numbers of one session.
#include "suite/store/records.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

constexpr const char* measured_samples_sql =
    "SELECT sample.id, series, seed, round, status, started, reason, seconds FROM sample "
    "WHERE session = ? ORDER BY started, seed, round, sample.id";

// CROSS JOIN keeps SQLite from starting at the metrics, of which a database has millions.
constexpr const char* measured_metrics_sql =
    "SELECT sample, name, labels, value FROM sample CROSS JOIN metric "
    "ON metric.sample = sample.id WHERE session = ?";

constexpr const char* context_sql =
    "SELECT detail FROM event WHERE sample = ? AND kind = ? ORDER BY ordinal LIMIT 1";

constexpr const char* measured_series_sql =
    "SELECT experiment, variant, axes, profile, provenance, scenario, hardware, calibration, data "
    "FROM series WHERE id = ?";

SeriesKey measured_series(SQLite::Statement& find, const std::string& id) {
    find.reset();
    find.bind(1, id);
    if (!find.executeStep()) throw std::invalid_argument("a sample without its series");
    return series_at(find);
}

void read_measured_samples(SQLite::Database& sql, std::string_view session, SessionMetrics& found) {
    SQLite::Statement rows(sql, measured_samples_sql), find(sql, measured_series_sql);
    bind_text(rows, 1, session);
    std::unordered_map<std::string, std::size_t> index;
    while (rows.executeStep()) {
        const std::string series = rows.getColumn(1).getString();
        const auto [at, is_new] = index.emplace(series, found.series.size());
        if (is_new) {
            found.ids.push_back(series);
            found.series.push_back(measured_series(find, series));
        }
        found.samples.push_back({rows.getColumn(0).getString(),
                                 at->second,
                                 static_cast<std::uint64_t>(rows.getColumn(2).getInt64()),
                                 rows.getColumn(3).getInt(),
                                 rows.getColumn(4).getString(),
                                 rows.getColumn(5).getString(),
                                 rows.getColumn(6).getString(),
                                 {},
                                 {},
                                 rows.getColumn(7).getDouble()});
    }
}

/// Labels repeat from sample to sample, so each text is parsed once.
void read_measured_metrics(SQLite::Database& sql, std::string_view session, SessionMetrics& found) {
    std::unordered_map<std::string, MeasuredSample*> by_id;
    for (MeasuredSample& sample : found.samples) by_id.emplace(sample.id, &sample);
    std::unordered_map<std::string, Labels> parsed;
    SQLite::Statement rows(sql, measured_metrics_sql);
    bind_text(rows, 1, session);
    while (rows.executeStep()) {
        const auto sample = by_id.find(rows.getColumn(0).getString());
        if (sample == by_id.end()) continue;
        const std::string text = rows.getColumn(2).getString();
        auto labels = parsed.find(text);
        if (labels == parsed.end()) labels = parsed.emplace(text, case_from_text(text)).first;
        sample->second->metrics.push_back(
            {rows.getColumn(1).getString(), labels->second, real_or_nan(rows.getColumn(3))});
    }
}

/// Only samples that start a program have one: "benchmark/program", but no imported benchmark,
/// which has no variant.
void read_contexts(SQLite::Database& sql, SessionMetrics& found) {
    SQLite::Statement find(sql, context_sql);
    for (MeasuredSample& sample : found.samples) {
        const SeriesKey& series = found.series[sample.series];
        if (series.variant.empty() || !series.experiment.starts_with("benchmark/")) continue;
        find.reset();
        find.bind(1, sample.id);
        bind_text(find, 2, context_event);
        if (find.executeStep())
            sample.context = nlohmann::json::parse(find.getColumn(0).getString());
    }
}

}  // namespace

SessionMetrics Store::session_metrics(std::string_view session) const {
    return impl_->database.read("read the metrics of a session", [&](SQLite::Database& sql) {
        SessionMetrics found;
        read_measured_samples(sql, session, found);
        read_measured_metrics(sql, session, found);
        read_contexts(sql, found);
        return found;
    });
}

SeriesKey Store::series(const std::string& id) const {
    return impl_->database.read("read a series", [&](SQLite::Database& sql) {
        SQLite::Statement find(sql, measured_series_sql);
        return measured_series(find, id);
    });
}

std::vector<std::string> Store::series_in(std::string_view session) const {
    return impl_->database.read("list the series of a session", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, "SELECT DISTINCT series FROM sample WHERE session = ?");
        bind_text(rows, 1, session);
        std::vector<std::string> ids;
        while (rows.executeStep()) ids.push_back(rows.getColumn(0).getString());
        return ids;
    });
}

}  // namespace assay::store
