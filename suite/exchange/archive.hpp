// Results that leave one database for another: files that lose nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/store/store.hpp"

namespace assay::exchange {

enum class ArchiveFormat {
    database,    ///< an SQLite file like the database itself
    json_lines,  ///< text, see json_lines.hpp
};

struct ArchiveRequest {
    store::Selection which;
    bool redacted = false;
    std::vector<std::string> names;  ///< further names to redact: of nodes, of users
    ArchiveFormat format = ArchiveFormat::database;
};

/// Writes a part of `database` to `to`, which appears at once when it is whole. Samples still
/// running are left out. UserError when nothing is left to write, or when `to` is a database that
/// is there already, whatever its name (a JSON lines file is replaced).
store::Store::Merged write_archive(const std::filesystem::path& database,
                                   const ArchiveRequest& request, const std::filesystem::path& to);

/// Adds what a file holds to the store: a results database, JSON lines, Google Benchmark's JSON
/// (benchmark_results.hpp) or CSV (csv_results.hpp), told apart by their contents. What is there
/// already is skipped, so importing twice adds nothing. UserError says what is wrong, with line and
/// column; nothing is stored then.
store::Store::Merged import_file(store::Store& store, const std::filesystem::path& file);

}  // namespace assay::exchange
