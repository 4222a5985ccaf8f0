// Results that leave one database for another: files that lose nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/store/store.hpp"

namespace assay::import_export {

enum class ArchiveFormat {
    database,    ///< an SQLite file like the database itself
    json_lines,  ///< text, see json_lines.hpp
};

struct ArchiveRequest {
    store::Selection which;
    bool curves = true;  ///< and tables, attached files; else metrics and events alone
    bool redacted = false;
    std::vector<std::string> names;  ///< further names to redact: of nodes, of users
    ArchiveFormat format = ArchiveFormat::database;
};

/// Writes a part of `database` to `to`, which appears at once when it is whole. Samples still
/// running are left out. UserError when nothing is left to write, or when `to` is a database that
/// is there already, whatever its name (a JSON lines file is replaced).
store::Store::Merged write_archive(const std::filesystem::path& database,
                                   const ArchiveRequest& request, const std::filesystem::path& to);

}  // namespace assay::import_export
