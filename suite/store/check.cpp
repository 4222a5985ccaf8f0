// `assay db check`: everything that can be wrong with a file, said in sentences.
#include <fmt/format.h>

#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/sha256.hpp"

namespace assay::store {
namespace {

using Problems = std::vector<std::string>;

void collect(SQLite::Database& sql, const char* query, std::string_view sentence,
             Problems& problems) {
    SQLite::Statement rows(sql, query);
    while (rows.executeStep())
        problems.push_back(fmt::format(fmt::runtime(sentence), rows.getColumn(0).getString()));
}

void check_pages(SQLite::Database& sql, Problems& problems) {
    SQLite::Statement rows(sql, "PRAGMA integrity_check");
    while (rows.executeStep())
        if (const auto line = rows.getColumn(0).getString(); line != "ok") problems.push_back(line);
}

void check_foreign_keys(SQLite::Database& sql, Problems& problems) {
    SQLite::Statement rows(sql, "PRAGMA foreign_key_check");
    while (rows.executeStep())
        problems.push_back(fmt::format("a row of {} refers to a row of {} that is not there",
                                       rows.getColumn(0).getString(),
                                       rows.getColumn(2).getString()));
}

void check_rows(SQLite::Database& sql, Problems& problems) {
    collect(sql,
            "SELECT sha256 FROM artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM artifact)",
            "the artifact content {} belongs to no sample", problems);
    collect(sql, "SELECT id FROM series WHERE id NOT IN (SELECT series FROM sample)",
            "series {} has no samples", problems);
    collect(
        sql,
        "SELECT id FROM series WHERE calibration <> '' AND calibration NOT IN (SELECT hash FROM "
        "calibration)",
        "series {} names a calibration that is not there", problems);
    collect(sql,
            "SELECT sample || ' ' || name FROM time_series WHERE length(t_s) <> 8 * points OR "
            "length(value) <> 8 * "
            "points",
            "a curve has lost points: {}", problems);
    collect(sql,
            "SELECT sample.id FROM sample JOIN session ON session.id = sample.session "
            "WHERE sample.status = 'running' AND session.state <> 'running'",
            "sample {} is marked running in a session that is not", problems);
    SQLite::Statement samples(sql, "SELECT id, status FROM sample");
    while (samples.executeStep())
        if (const auto status = samples.getColumn(1).getString();
            status != to_string(SampleStatus::running) && !is_final_status(status))
            problems.push_back(fmt::format("sample {} has the unknown status \"{}\"",
                                           samples.getColumn(0).getString(), status));
}

void check_contents(SQLite::Database& sql, Problems& problems) {
    SQLite::Statement rows(sql, "SELECT sha256, bytes FROM artifact_blob");
    while (rows.executeStep()) {
        const auto bytes = rows.getColumn(1);
        const auto* data = static_cast<const char*>(bytes.getBlob());
        const auto size = static_cast<std::size_t>(bytes.getBytes());
        if (const auto name = rows.getColumn(0).getString();
            sha256_hex(std::string_view(data ? data : "", size)) != name)
            problems.push_back(
                fmt::format("the artifact content {} has changed since it was stored", name));
    }
}

std::vector<std::pair<std::string, long>> count_rows(SQLite::Database& sql) {
    std::vector<std::pair<std::string, long>> counts;
    SQLite::Statement tables(sql,
                             "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT "
                             "LIKE 'sqlite_%' ORDER BY name");
    while (tables.executeStep()) {
        const auto name = tables.getColumn(0).getString();
        std::string quoted;
        for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
        counts.emplace_back(
            name,
            static_cast<long>(sql.execAndGet("SELECT count(*) FROM \"" + quoted + '"').getInt64()));
    }
    return counts;
}

double file_bytes(const std::filesystem::path& file) {
    std::error_code missing;
    double bytes = 0;
    for (const char* suffix : {"", "-wal"})
        if (const auto size = std::filesystem::file_size(file.string() + suffix, missing); !missing)
            bytes += static_cast<double>(size);
    return bytes;
}

}  // namespace

Store::CheckReport Store::check() const {
    auto& database = impl_->database;
    CheckReport report;
    report.bytes = file_bytes(database.opened());
    try {
        database.read("check the database", [&](SQLite::Database& sql) {
            check_pages(sql, report.problems);
            check_foreign_keys(sql, report.problems);
            check_rows(sql, report.problems);
            check_contents(sql, report.problems);
            report.rows = count_rows(sql);
        });
    } catch (const StoreError& error) {
        report.problems.push_back(error.what());  // so damaged that it cannot be read to the end
    }
    report.ok = report.problems.empty();
    return report;
}

}  // namespace assay::store
