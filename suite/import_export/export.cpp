// Results that leave one database for another.
#include "suite/import_export/export.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "suite/base/durable_file.hpp"
#include "suite/base/encoding.hpp"
#include "suite/base/file_descriptor.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/import_export/json_lines.hpp"
#include "suite/import_export/redaction.hpp"
#include "suite/store/database_file.hpp"
#include "suite/store/ids.hpp"

namespace assay::import_export {
namespace fs = std::filesystem;
namespace {

bool is_database(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string beginning(15, '\0');
    in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    return beginning == "SQLite format 3";
}

/// UserError when writing `to` would destroy results, or what is no file.
void refuse_to_replace(const fs::path& to, const fs::path& database, ArchiveFormat format) {
    std::error_code error;
    const auto real = fs::weakly_canonical(database, error).string();
    for (const char* own : {"-wal", "-shm", "-journal", "-runners"})
        if (fs::weakly_canonical(to, error) == real + own)
            throw UserError(fmt::format("{} is a file of the database {}; give another name",
                                        to.string(), database.string()));
    if (const std::string trouble = missing_folder(to); !trouble.empty())
        throw UserError(fmt::format("cannot write {}: {}", to.string(), trouble));
    if (!fs::exists(to)) return;
    if (fs::equivalent(to, database, error))
        throw UserError(fmt::format("{} is the database itself; give a new file", to.string()));
    if (!fs::is_regular_file(to))
        throw UserError(fmt::format("{} is not a file; give a new one", to.string()));
    if (format == ArchiveFormat::database || is_database(to))
        throw UserError(
            fmt::format("{0} is there already; give a new file, or add to it with `assay db merge "
                        "{1} --db {0}`",
                        shell_quoted(to.string()), shell_quoted(database.string())));
}

/// Calls write(FILE beside `to`), then gives that file its name.
template <class Write>
void appears_at_once(const fs::path& to, Write write) {
    fs::path part = to;
    part += fmt::format(".{:.8}.part", store::new_uuid());
    std::error_code error;
    if (!FileDescriptor(open(part.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666)))
        throw UserError(fmt::format("cannot write {}: {}", to.string(), std::strerror(errno)));
    try {
        write(part);
        publish(part, to);
    } catch (const std::exception& failure) {
        fs::remove(part, error);
        throw UserError(fmt::format("cannot write {}: {}", to.string(), failure.what()));
    }
}

void write_as(ArchiveFormat format, const fs::path& database, const fs::path& to) {
    appears_at_once(to, [&](const fs::path& part) {
        if (format == ArchiveFormat::database) {
            // Not a plain copy: pages that are free now still hold what was redacted.
            SQLite::Database sql(database.string(), SQLite::OPEN_READWRITE);
            SQLite::Statement vacuum(sql, "VACUUM INTO ?");
            vacuum.bind(1, part.string());
            vacuum.exec();
            return;
        }
        std::ofstream out(part, std::ios::binary | std::ios::trunc);
        write_json_lines(database, out);
        out.close();
        if (!out) throw std::runtime_error(std::strerror(errno));
    });
}

}  // namespace

store::Store::Merged write_archive(const fs::path& database, const ArchiveRequest& request,
                                   const fs::path& to) {
    refuse_to_replace(to, database, request.format);
    const store::TemporaryFolder folder("assay-export");
    const fs::path chosen = folder / "chosen.db";
    store::Store::Merged merged;
    {
        auto archive = store::Store::open(chosen, store::Access::write);
        merged = archive.merge(database, request.which);
    }
    if (merged.sessions == 0)
        throw UserError("nothing to export: no session matches; " +
                        suggested("export --to " + shell_quoted(to.string())) +
                        ", without --session, --since and patterns, takes all of them");
    if (!request.curves)
        SQLite::Database(chosen.string(), SQLite::OPEN_READWRITE)
            .exec(
                "DELETE FROM time_series; DELETE FROM artifact; DELETE FROM artifact_blob;"
                "DELETE FROM data_table_cell; DELETE FROM data_table_column;"
                "DELETE FROM data_table");
    if (request.redacted) {
        SQLite::Database sql(chosen.string(), SQLite::OPEN_READWRITE);
        redact(sql, request.names);
    }
    write_as(request.format, chosen, to);
    return merged;
}

}  // namespace assay::import_export
