// Upkeep of a file: `assay db check` says in sentences what can be wrong with it, `assay db prune`
// takes away old sessions or unsuccessful samples and gives their space back.
#include <fmt/format.h>

#include <cmath>

#include "suite/base/sha256.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

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
            "SELECT sample || ' ' || name FROM time_series AS chunk WHERE curve IS NOT NULL AND "
            "NOT EXISTS (SELECT 1 FROM time_series AS first WHERE first.sample = chunk.sample AND "
            "first.ordinal = chunk.curve AND first.curve = first.ordinal AND first.name = "
            "chunk.name AND first.labels = chunk.labels AND first.unit = chunk.unit)",
            "a part of a curve belongs to none: {}", problems);
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

// ---- prune --------------------------------------------------------------------------------------

namespace {

// What a person pointed at stays, and so does what is being worked on.
constexpr const char* prunable_sessions =
    "SELECT id FROM session WHERE started < ? AND state <> 'running' "
    "AND id NOT IN (SELECT session FROM baseline) "
    "AND id NOT IN (SELECT session FROM accepted_level) "
    "AND id NOT IN (SELECT session FROM annotation WHERE session IS NOT NULL) "
    "AND id NOT IN (SELECT sample.session FROM annotation JOIN sample ON sample.id = "
    "annotation.sample)";

std::string moment_before(std::optional<double> days) {
    if (!days) return "~";  // after every time
    // Bounded, since the clock cannot count further back than 1677.
    const double seconds = std::min(*days, 36525.0) * 86400;
    return utc(std::chrono::system_clock::now() -
               std::chrono::duration_cast<std::chrono::system_clock::duration>(
                   std::chrono::duration<double>(seconds)));
}

long remove(SQLite::Database& sql, const std::string& statement, const std::string& before) {
    SQLite::Statement remove(sql, statement);
    if (!before.empty()) remove.bind(1, before);
    return remove.exec();
}

Store::Pruned prune_rows(SQLite::Database& sql, const std::string& before, bool only_unsuccessful) {
    Store::Pruned pruned;
    pruned.samples =
        remove(sql,
               fmt::format("DELETE FROM sample WHERE session IN ({}) {}", prunable_sessions,
                           only_unsuccessful ? "AND status NOT IN ('ok', 'running')" : ""),
               before);
    if (!only_unsuccessful) {
        SQLite::Statement sessions(
            sql,
            fmt::format("DELETE FROM session WHERE id IN ({}) RETURNING id", prunable_sessions));
        sessions.bind(1, before);
        while (sessions.executeStep())
            pruned.session_ids.push_back(sessions.getColumn(0).getString());
        pruned.sessions = static_cast<long>(pruned.session_ids.size());
        remove(sql, "DELETE FROM claim_check WHERE session IS NULL AND at < ?", before);
    }
    pruned.artifacts = remove(
        sql, "DELETE FROM artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM artifact)", "");
    remove(sql, "DELETE FROM series WHERE id NOT IN (SELECT series FROM sample)", "");
    // Thousands of names of what is gone would take space too: who followed reads all that is left.
    remove(sql, "DELETE FROM removal", "");
    sql.exec("UPDATE change_counter SET forgotten = newest");
    return pruned;
}

/// Leaves a transaction on purpose, so that counting takes the path that deleting takes.
struct DryRun {
    Store::Pruned pruned;
};

}  // namespace

Store::Pruned Store::prune(std::optional<double> older_than_days, bool only_unsuccessful,
                           bool dry_run) {
    if (!older_than_days && !only_unsuccessful)
        throw StoreError("prune what? Give an age in days, or ask for unsuccessful samples only.");
    if (older_than_days && (!std::isfinite(*older_than_days) || *older_than_days < 0))
        throw StoreError(fmt::format("an age of {} days makes no sense.", *older_than_days));
    auto& database = impl_->database;
    Pruned pruned;
    try {
        pruned = database.write("prune", [&](SQLite::Database& sql) {
            const auto counted = prune_rows(sql, moment_before(older_than_days), only_unsuccessful);
            if (dry_run) throw DryRun{counted};
            return counted;
        });
    } catch (const DryRun& counted) {
        return counted.pruned;
    }
    with_store_errors(path(), "give the space back", [&] {
        database.sql().exec("PRAGMA incremental_vacuum");
        database.sql().exec("PRAGMA wal_checkpoint(TRUNCATE)");
    });
    return pruned;
}

}  // namespace assay::store
