// Opening a results database: what is refused, how the connection is set up, how the file is made.
#include "suite/store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "suite/base/encoding.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/store/database_file.hpp"
#include "suite/store/schema/migration.hpp"

namespace assay::store {
namespace fs = std::filesystem;
namespace {

// Transactions take milliseconds; whoever waits this long waits for a process that is stopped.
constexpr int busy_timeout_ms = 10'000;

bool is_there(const fs::path& file) {
    std::error_code unreachable;
    return fs::exists(file, unreachable);
}

/// It can also show when the shared-memory file of the WAL has to grow.
bool is_full_disk(int extended) {
    return (extended & 0xff) == SQLITE_FULL || extended == SQLITE_IOERR_SHMSIZE;
}

int newest_version() { return migrations().back().to; }

SQLite::Database connect(const fs::path& file, int flags) {
    // OPEN_URI serves merge(), which attaches the other file read-only; our own path is absolute
    // and never looks like a URI.
    SQLite::Database sql(file.string(), flags | SQLITE_OPEN_URI, busy_timeout_ms);
    auto* handle = sql.getHandle();
    sqlite3_extended_result_codes(handle, 1);
    // The file may come from anywhere: its schema must not run functions with side effects, its
    // pages are checked before they are believed.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sql.exec("PRAGMA cell_size_check = ON");
    sql.exec("PRAGMA foreign_keys = ON");
    return sql;
}

/// A new file is built in rollback mode and put into WAL mode afterwards: so there is a header that
/// refuse_foreign_file() can look at. The first pragma writes it without our mark; who is killed
/// then, or has not got further yet, leaves a file without any table, which is nobody's.
void create(const fs::path& file, SQLite::Database& sql) {
    const auto ours = [&] {
        return sql.execAndGet("PRAGMA application_id").getUInt() == application_id;
    };
    if (ours()) return;
    sql.exec("PRAGMA auto_vacuum = INCREMENTAL");  // prune() gives the space back without a copy
    SQLite::Transaction transaction(sql, SQLite::TransactionBehavior::IMMEDIATE);
    if (ours()) return;  // another process was faster
    if (sql.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() != 0)
        throw StoreError(
            fmt::format("{}: not an Assay database; it was left as it is.", file.string()));
    sql.exec(fmt::format("PRAGMA application_id = {}", application_id));
    transaction.commit();
}

void use_wal(const fs::path& file, SQLite::Database& sql) {
    // The busy timeout does not cover this change of mode, for which nobody else may be reading.
    for (int attempt = 0;; ++attempt) {
        try {
            if (sql.execAndGet("PRAGMA journal_mode = WAL").getString() == "wal") break;
        } catch (const SQLite::Exception& error) {
            if (error.getErrorCode() % 256 != SQLITE_BUSY || attempt >= 200) throw;
        }
        if (attempt >= 200)
            throw StoreError(
                fmt::format("{}: SQLite cannot use a write-ahead log here (it needs shared "
                            "memory); name a file on a local disk with --db or ASSAY_DB.",
                            file.string()));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    // NORMAL: a commit is in the page cache of the kernel when it returns, which outlives every
    // death of the process; only a crash of the whole machine can take the commits since the last
    // checkpoint, never the integrity of the file, and a resumed session runs those samples again.
    // FULL would sync after each sample, and that disk traffic would disturb the next measurement.
    sql.exec("PRAGMA synchronous = NORMAL");
}

void refuse_unwritable(const fs::path& file) {
    for (const auto& path : {file, file.parent_path()})
        if (is_there(path) && access(path.c_str(), W_OK) != 0)
            throw StoreError(
                fmt::format("{}: cannot be written: {}: {}. Name another file with --db or "
                            "ASSAY_DB.",
                            file.string(), path.string(), std::strerror(errno)));
}

/// Throws SQLite::Exception when the file cannot even be looked at.
void refuse_version_for_reading(const fs::path& file, SQLite::Database& sql) {
    const int version = schema_version(file, sql);
    if (version == newest_version()) return;
    throw StoreError(
        version > newest_version()
            ? fmt::format(
                  "{}: the file has schema version {}, this program knows versions up to {}: a "
                  "newer program is needed. It was left as it is.",
                  file.string(), version, newest_version())
            : fmt::format(
                  "{}: the file has schema version {}, this program reads version {}. "
                  "`assay db migrate --db {}` brings it up to date, and so does any command that "
                  "writes.",
                  file.string(), version, newest_version(), shell_quoted(file.string())));
}

}  // namespace

Database::Database(fs::path file, std::optional<PrivateCopy> copy, std::optional<RunnerLock> runner,
                   SQLite::Database sql)
    : file_(std::move(file)),
      copy_(std::move(copy)),
      runner_(std::move(runner)),
      sql_(std::move(sql)) {}

Database Database::open(const fs::path& file, Access access) {
    std::error_code error;
    // Links are followed, so that everyone agrees on the names of the files beside the database.
    const auto absolute = fs::weakly_canonical(fs::absolute(file, error), error);
    if (error || file.empty() || !absolute.has_filename())
        throw StoreError(fmt::format("\"{}\" is not the name of a file.", file.string()));
    if (fs::is_directory(absolute, error))
        throw StoreError(fmt::format(
            "{} is a folder; name a results file in it with --db or ASSAY_DB.", file.string()));
    return with_store_errors(absolute, "open the database", [&] {
        return access == Access::write ? open_for_writing(absolute)
                                       : open_for_reading(absolute, Older::is_refused);
    });
}

Database Database::open_older(const fs::path& file) {
    std::error_code error;
    const auto absolute = fs::weakly_canonical(fs::absolute(file, error), error);
    if (error) return open(file, Access::read);  // says what is wrong
    return with_store_errors(absolute, "open the database", [&] {
        return open_for_reading(absolute, Older::is_migrated_in_a_copy);
    });
}

Database Database::open_for_writing(const fs::path& file) {
    const auto folder = file.parent_path();
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw StoreError(
            fmt::format("{}: its folder cannot be made ({}). Name another file with --db or "
                        "ASSAY_DB.",
                        file.string(), error.message()));
    refuse_network_file_system(file, folder);
    if (is_there(file)) refuse_foreign_file(file, newest_version(), true);
    refuse_unwritable(file);
    auto sql = connect(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    create(file, sql);
    migrate(file, sql, migrations());
    use_wal(file, sql);
    return Database(file, std::nullopt, RunnerLock(file), std::move(sql));
}

Database Database::open_for_reading(const fs::path& file, Older older) {
    if (!is_there(file))
        throw StoreError(fmt::format("{}: there is no results database; {} makes one.",
                                     file.string(), suggested("run")));
    refuse_network_file_system(file, file.parent_path());
    refuse_foreign_file(file, newest_version(), false);
    const bool migrates = older == Older::is_migrated_in_a_copy;
    try {
        auto sql = connect(file, SQLite::OPEN_READONLY);
        if (!migrates || schema_version(file, sql) >= newest_version()) {
            refuse_version_for_reading(file, sql);
            return Database(file, std::nullopt, std::nullopt, std::move(sql));
        }
    } catch (const SQLite::Exception& failure) {
        // A reader of a WAL file needs its -shm file, which SQLite cannot make in a read-only
        // folder, nor on a full disk.
        const int code = failure.getErrorCode() % 256;
        if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY &&
            !is_full_disk(failure.getExtendedErrorCode()))
            throw;
    }
    PrivateCopy copy(file);
    auto sql = connect(copy.file(), SQLite::OPEN_READWRITE);
    if (migrates)
        migrate(file, sql, migrations());
    else
        refuse_version_for_reading(file, sql);
    return Database(file, std::move(copy), std::nullopt, std::move(sql));
}

void Database::refuse_unless_writable(std::string_view task) const {
    if (!writable())
        throw StoreError(
            fmt::format("{}: could not {}: it was opened for reading only.", file_.string(), task));
}

bool Database::replaced() {
    int moved = 0;
    sqlite3_file_control(sql_.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

bool Database::begin_unless_busy(std::optional<SQLite::Transaction>& transaction) {
    sqlite3* const handle = sql_.getHandle();
    sqlite3_busy_timeout(handle, 0);
    try {
        transaction.emplace(sql_, SQLite::TransactionBehavior::IMMEDIATE);
    } catch (const SQLite::Exception& error) {
        sqlite3_busy_timeout(handle, busy_timeout_ms);
        if (error.getErrorCode() % 256 != SQLITE_BUSY) throw;
        return false;
    }
    sqlite3_busy_timeout(handle, busy_timeout_ms);
    return true;
}

void Database::note_writer() {
    if (writer_is_noted_) return;
    // Readers whose cursors are older than so many writers read everything again.
    constexpr std::int64_t most_writers = 1000;
    SQLite::Statement note(
        sql_, "INSERT OR REPLACE INTO change_writer SELECT newest + 1, ? FROM change_counter");
    note.bind(1, runner_->token());
    note.exec();
    SQLite::Statement forget(sql_,
                             "DELETE FROM change_writer WHERE first < (SELECT min(first) FROM "
                             "(SELECT first FROM change_writer ORDER BY first DESC LIMIT ?))");
    forget.bind(1, most_writers);
    forget.exec();
}

EndOfTransaction::~EndOfTransaction() {
    sqlite3* const handle = sql_->getHandle();
    int code = SQLITE_INTERRUPT;
    while (code == SQLITE_INTERRUPT && sqlite3_get_autocommit(handle) == 0)
        code = sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

// ---- prepared statements ------------------------------------------------------------------------

Prepared::~Prepared() {
    statement_->tryReset();
    try {
        statement_->clearBindings();
    } catch (const SQLite::Exception&) {  // nothing that a later use would not bind again
    }
}

Prepared StatementCache::get(SQLite::Database& sql, const char* literal) {
    auto& statement = statements_[literal];
    if (!statement) statement = std::make_unique<SQLite::Statement>(sql, literal);
    return Prepared(*statement);
}

// ---- what SQLite says, in sentences -------------------------------------------------------------

namespace {

std::string advice_for(const fs::path& file, int extended) {
    if (is_full_disk(extended))
        return "the disk is full. What was stored before is intact; free some space and run the "
               "same command again, it continues where it stopped";
    switch (extended & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "another process has kept the database busy for too long; try again when it is "
                   "done";
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return "the file or its folder is read-only; name another file with --db or ASSAY_DB";
        case SQLITE_CANTOPEN:
            return "the file or its folder cannot be opened or created; check its permissions, or "
                   "name another file with --db or ASSAY_DB";
        case SQLITE_NOTADB:
            return "this is not an Assay database, or its beginning is damaged; it was left as it "
                   "is";
        case SQLITE_CORRUPT:
            return "the file is damaged; restore a copy, or save what can be read with "
                   "`sqlite3 FILE .recover`";
        case SQLITE_TOOBIG:
            return "one value is larger than SQLite can hold (1 GB)";
        case SQLITE_NOMEM:
            return "not enough memory";
        case SQLITE_CONSTRAINT:
            return "the rows contradict what is stored";
        case SQLITE_ERROR:
        case SQLITE_SCHEMA:
            return "the file does not have the tables it should have; `assay db check --db " +
                   shell_quoted(file.string()) + "` says more";
        default:
            return "reading or writing the file failed; check the disk";
    }
}

}  // namespace

void throw_store_error(const std::filesystem::path& file, std::string_view task,
                       const SQLite::Exception& error) {
    const int extended = error.getExtendedErrorCode();
    const int code = extended >= 0 ? extended : error.getErrorCode();
    throw StoreError(fmt::format("{}: could not {}: {} (SQLite: {}, code {}).", file.string(), task,
                                 advice_for(file, code), error.what(), code));
}

void throw_unreadable_value(const std::filesystem::path& file, std::string_view task,
                            std::string_view why) {
    throw StoreError(
        fmt::format("{}: could not {}: a stored value cannot be read ({}); the file is damaged or "
                    "was changed by "
                    "another program. `assay db check --db {}` says more.",
                    file.string(), task, why, shell_quoted(file.string())));
}

}  // namespace assay::store
