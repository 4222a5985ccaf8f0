// `assay db merge`: copies what another results database knows and this one does not.
#include <fmt/format.h>

#include <cctype>

#include "suite/store/attempt.hpp"
#include "suite/store/impl.hpp"

namespace assay::store {
namespace {

/// A path as SQLite's URI for reading only.
std::string read_only_uri(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const unsigned char c : file.string()) {
        const bool plain = std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return uri + "?mode=ro";
}

std::string columns(SQLite::Database& sql, std::string_view table) {
    SQLite::Statement rows(
        sql, fmt::format("SELECT group_concat(name, ', ') FROM pragma_table_info('{}')", table));
    rows.executeStep();
    return rows.getColumn(0).getString();
}

/// Copies the rows of `table` that `which` selects; what is here already stays as it is.
long copy(SQLite::Database& sql, std::string_view table, std::string_view which) {
    const auto names = columns(sql, table);
    return sql.exec(fmt::format(
        "INSERT INTO main.{0} ({1}) SELECT {1} FROM other.{0} WHERE {2} ON CONFLICT DO NOTHING",
        table, names, which));
}

class Attached {
  public:
    Attached(SQLite::Database& sql, const std::filesystem::path& file) : sql_(sql) {
        SQLite::Statement attach(sql_, "ATTACH DATABASE ? AS other");
        attach.bind(1, read_only_uri(file));
        attach.exec();
    }
    ~Attached() {
        sql_.tryExec("DROP TABLE IF EXISTS temp.arriving");
        sql_.tryExec("DROP TABLE IF EXISTS temp.incoming");
        sql_.tryExec("DETACH DATABASE other");
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

  private:
    SQLite::Database& sql_;
};

long copy_sessions(SQLite::Database& sql) {
    copy(sql, "machine", "true");
    sql.exec(
        "CREATE TEMP TABLE arriving AS SELECT id FROM other.session WHERE id NOT IN (SELECT id "
        "FROM main.session)");
    const long added = copy(sql, "session", "true");
    // Their runner is none of ours, and may have got further by the time of the next merge.
    sql.exec(
        "UPDATE main.session SET owner = 0, pid = 0, "
        "state = CASE state WHEN 'running' THEN 'interrupted' ELSE state END WHERE id IN "
        "temp.arriving");
    sql.exec(
        "UPDATE main.session SET state = theirs.state, finished = theirs.finished "
        "FROM other.session AS theirs WHERE theirs.id = main.session.id "
        "AND main.session.state = 'interrupted' AND theirs.state = 'finished'");
    return added;
}

/// A sample that failed or was interrupted gives way to a later, successful attempt at it.
constexpr const char* superseded =
    "SELECT mine.id FROM main.sample AS mine JOIN other.sample AS theirs USING (session, series, "
    "seed, round) "
    "WHERE mine.status NOT IN ('ok', 'running') AND theirs.status = 'ok' AND mine.id <> theirs.id";

long copy_samples(SQLite::Database& sql) {
    copy(sql, "series", "id IN (SELECT series FROM other.sample WHERE status <> 'running')");
    SQLite::Statement outdated(sql, superseded);
    std::vector<std::string> ids;
    while (outdated.executeStep()) ids.push_back(outdated.getColumn(0).getString());
    for (const auto& id : ids) remove_attempt(sql, id);
    sql.exec(
        "CREATE TEMP TABLE incoming AS SELECT id FROM other.sample AS theirs WHERE status <> "
        "'running' "
        "AND NOT EXISTS (SELECT 1 FROM main.sample WHERE id = theirs.id) "
        "AND NOT EXISTS (SELECT 1 FROM main.sample AS mine WHERE mine.session = theirs.session "
        "AND mine.series = theirs.series AND mine.seed = theirs.seed AND mine.round = "
        "theirs.round)");
    const long added = copy(sql, "sample", "id IN temp.incoming");
    copy(sql, "artifact_blob",
         "sha256 IN (SELECT sha256 FROM other.artifact WHERE sample IN temp.incoming)");
    // Parents before children: foreign keys are checked at once.
    for (const auto* table : {"metric", "event", "time_series", "data_table", "data_table_column",
                              "data_table_cell", "artifact", "hardware"})
        copy(sql, table, "sample IN temp.incoming");
    sql.exec(
        "DELETE FROM main.artifact_blob WHERE sha256 NOT IN (SELECT sha256 FROM main.artifact)");
    sql.exec("DELETE FROM main.series WHERE id NOT IN (SELECT series FROM main.sample)");
    return added;
}

void copy_references(SQLite::Database& sql) {
    copy(sql, "claim_check", "true");
    copy(sql, "calibration", "true");
    copy(sql, "baseline", "true");
    copy(sql, "annotation", "sample IS NULL OR sample IN (SELECT id FROM main.sample)");
}

}  // namespace

Store::Merged Store::merge(const std::filesystem::path& file) {
    auto& database = impl_->database;
    // Opened once for reading on its own: that refuses foreign files and other schema versions, and
    // makes a private copy where nothing may be written.
    auto other = Database::open(file, Access::read);
    if (other.file() == database.file())
        throw StoreError(
            fmt::format("{}: a database cannot be merged into itself.", path().string()));
    return guarded(path(), fmt::format("merge {} into it", other.file().string()), [&] {
        auto& sql = database.sql();
        Attached attached(sql, other.opened());
        return database.write("merge", [&](SQLite::Database&) {
            Merged merged;
            merged.sessions = copy_sessions(sql);
            merged.samples = copy_samples(sql);
            copy_references(sql);
            merged.skipped =
                static_cast<long>(sql.execAndGet("SELECT count(*) FROM other.sample").getInt64()) -
                merged.samples;
            return merged;
        });
    });
}

}  // namespace assay::store
