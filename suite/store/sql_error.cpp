// Turns what SQLite says into sentences for the user.
#include "suite/store/sql_error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace assay::store {
namespace {

std::string remedy(int extended) {
    // A full disk can also show when the shared-memory file of the WAL has to grow.
    if ((extended & 0xff) == SQLITE_FULL || extended == SQLITE_IOERR_SHMSIZE)
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
            return "the file does not have the tables it should have; `assay db check` says more";
        default:
            return "reading or writing the file failed; check the disk";
    }
}

}  // namespace

void raise(const std::filesystem::path& file, std::string_view doing,
           const SQLite::Exception& error) {
    const int extended = error.getExtendedErrorCode();
    const int code = extended >= 0 ? extended : error.getErrorCode();
    throw StoreError(fmt::format("{}: could not {}: {} (SQLite: {}, code {}).", file.string(),
                                 doing, remedy(code), error.what(), code));
}

void raise_unreadable(const std::filesystem::path& file, std::string_view doing,
                      std::string_view why) {
    throw StoreError(
        fmt::format("{}: could not {}: a stored value cannot be read ({}); the file is damaged or "
                    "was changed by "
                    "another program. `assay db check` says more.",
                    file.string(), doing, why));
}

}  // namespace assay::store
