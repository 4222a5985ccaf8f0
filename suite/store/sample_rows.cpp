// Reads rows of the table sample with their metrics and events.
#include "suite/store/sample_rows.hpp"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>

#include "suite/store/row_codec.hpp"

namespace assay::store {
namespace {

/// Calls `add(sample, row)` for each row of a table that hangs on the selected samples, in order.
template <class Add>
void read_attached(SQLite::Database& sql, std::string_view table, std::string_view columns,
                   const std::string& selection, std::string_view parameter,
                   const std::unordered_map<std::string, Sample*>& by_id, Add add) {
    SQLite::Statement rows(
        sql, fmt::format("SELECT sample, {} FROM {} WHERE sample IN ({}) ORDER BY sample, ordinal",
                         columns, table, selection));
    bind_text(rows, 1, parameter);
    while (rows.executeStep())
        if (const auto found = by_id.find(rows.getColumn(0).getString()); found != by_id.end())
            add(*found->second, rows);
}

}  // namespace

std::vector<Sample> read_samples(SQLite::Database& sql, const std::string& selection,
                                 std::string_view parameter, std::string_view order) {
    SQLite::Statement rows(
        sql, fmt::format("SELECT sample.id, session, series, spec, status, reason, sample.started, "
                         "seconds, hardware, calibration, data "
                         "FROM sample JOIN series ON series.id = sample.series "
                         "WHERE sample.id IN ({}) ORDER BY {}",
                         selection, order));
    bind_text(rows, 1, parameter);
    std::vector<Sample> samples;
    while (rows.executeStep()) {
        Sample sample;
        sample.id = rows.getColumn(0).getString();
        sample.session = rows.getColumn(1).getString();
        sample.series = rows.getColumn(2).getString();
        sample.spec = spec_from_text(rows.getColumn(3).getString());
        sample.status = rows.getColumn(4).getString();
        sample.reason = rows.getColumn(5).getString();
        sample.started = rows.getColumn(6).getString();
        sample.seconds = rows.getColumn(7).getDouble();
        sample.origin = {rows.getColumn(8).getString(), rows.getColumn(9).getString(),
                         rows.getColumn(10).getString(), sample.session};
        samples.push_back(std::move(sample));
    }
    std::unordered_map<std::string, Sample*> by_id;
    for (auto& sample : samples) by_id.emplace(sample.id, &sample);
    read_attached(sql, "metric", "name, labels, value", selection, parameter, by_id,
                  [](Sample& sample, SQLite::Statement& row) {
                      sample.metrics.push_back({row.getColumn(1).getString(),
                                                case_from_text(row.getColumn(2).getString()),
                                                real_or_nan(row.getColumn(3))});
                  });
    read_attached(
        sql, "event", "t_s, kind, rank, detail", selection, parameter, by_id,
        [](Sample& sample, SQLite::Statement& row) {
            sample.events.push_back({real_or_nan(row.getColumn(1)), row.getColumn(2).getString(),
                                     row.getColumn(3).getInt(),
                                     nlohmann::json::parse(row.getColumn(4).getString())});
        });
    return samples;
}

}  // namespace assay::store
