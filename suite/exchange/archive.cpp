// Results that leave one database for another.
#include "suite/exchange/archive.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "suite/exchange/benchmark_results.hpp"
#include "suite/exchange/csv_results.hpp"
#include "suite/exchange/json_lines.hpp"
#include "suite/exchange/redaction.hpp"
#include "suite/exchange/staging.hpp"

namespace assay::exchange {
namespace fs = std::filesystem;
namespace {

/// Calls write(FILE beside `to`), then gives that file its name.
template <class Write>
void appears_at_once(const fs::path& to, Write write) {
    fs::path part = to;
    part += ".part";
    std::error_code error;
    if (to.has_parent_path()) fs::create_directories(to.parent_path(), error);
    fs::remove(part, error);
    try {
        write(part);
        fs::rename(part, to);
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

std::string all_of(std::ifstream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

}  // namespace

store::Store::Merged write_archive(const fs::path& database, const ArchiveRequest& request,
                                   const fs::path& to) {
    if (request.format == ArchiveFormat::database && fs::exists(to))
        throw UserError(fmt::format(
            "{} is there already; give a new file, or `assay db merge` to add to it", to.string()));
    const OwnFolder folder;
    const fs::path chosen = folder / "chosen.db";
    store::Store::Merged merged;
    {
        auto archive = store::Store::open(chosen, store::Access::write);
        merged = archive.merge(database, request.which);
    }
    if (merged.sessions == 0)
        throw UserError(
            "nothing to export: no session matches; `assay export` without --session, "
            "--since and patterns takes all of them");
    if (request.redacted) {
        SQLite::Database sql(chosen.string(), SQLite::OPEN_READWRITE);
        redact(sql, request.names);
    }
    write_as(request.format, chosen, to);
    return merged;
}

store::Store::Merged import_file(store::Store& store, const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in || !fs::is_regular_file(file))
        throw UserError(fmt::format("{}: cannot be read: {}", file.string(),
                                    in ? "not a file" : std::strerror(errno)));
    std::string beginning(4096, '\0');
    in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    beginning.resize(static_cast<std::size_t>(in.gcount()));
    if (beginning.starts_with("SQLite format 3")) return store.merge(file);
    in.clear();
    in.seekg(0);
    Staging staging;
    const auto sink = [&](const Row& row) { staging.insert(row); };
    const auto source = file.string();
    if (looks_like_json_lines(beginning))
        read_json_lines(in, source, sink);
    else if (const auto at = beginning.find_first_not_of(" \t\r\n");
             at != beginning.npos && beginning[at] == '{')
        read_benchmark_results(all_of(in), source, sink);
    else
        read_csv_results(all_of(in), source, sink);
    return store.merge(staging.complete());
}

}  // namespace assay::exchange
