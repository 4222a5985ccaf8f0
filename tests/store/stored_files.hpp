// Databases that earlier versions of the schema left behind, kept as text in tests/store/data.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace assay::store::testing {

/// Makes the database of a file of SQL.
inline void from_text(const std::string& name, const std::filesystem::path& database) {
    std::ifstream in(std::filesystem::path(ASSAY_STORE_TEST_DATA) / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    SQLite::Database(database.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(text);
}

}  // namespace assay::store::testing
