// A database of our own in which arriving rows are put together.
#include "suite/exchange/staging.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <span>

#include "suite/experiment/error.hpp"
#include "suite/store/file_header.hpp"
#include "suite/store/migration.hpp"

namespace assay::exchange {
namespace {

void bind_cell_of_row(SQLite::Statement& insert, int index, const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
        insert.bind(index, *integer);
    } else if (const auto* real = std::get_if<double>(&cell)) {
        insert.bind(index, *real);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
        insert.bind(index, *text);
    } else if (const auto* blob = std::get_if<Blob>(&cell)) {
        // A null pointer would be stored as NULL.
        const auto& bytes = blob->bytes;
        insert.bind(index, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()));
    } else {
        insert.bind(index);
    }
}

}  // namespace

OwnFolder::OwnFolder() {
    auto pattern = (std::filesystem::temp_directory_path() / "assay-exchange-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
        throw UserError(fmt::format("cannot make a folder like {}", pattern));
    path_ = pattern;
}

OwnFolder::~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Staging::Staging(int schema) : file_(folder_ / "arriving.db") {
    sql_ = std::make_unique<SQLite::Database>(file_.string(),
                                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    sql_->exec(fmt::format("PRAGMA application_id = {}", store::application_id));
    store::migrate(file_, *sql_,
                   std::span(store::migrations()).first(static_cast<std::size_t>(schema)));
    sql_->exec("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF");
    transaction_ = std::make_unique<SQLite::Transaction>(*sql_);
    sql_->exec("PRAGMA defer_foreign_keys = ON");  // rows may come in any order
}

void Staging::insert(const Row& row) {
    std::string columns, marks;
    for (const auto& [name, cell] : row.cells) {
        columns += (columns.empty() ? "" : ", ") + ('"' + name + '"');
        marks += marks.empty() ? "?" : ", ?";
    }
    const auto text = fmt::format("INSERT INTO {} ({}) VALUES ({})", row.table, columns, marks);
    try {
        auto found = inserts_.find(text);
        if (found == inserts_.end())
            found = inserts_.emplace(text, SQLite::Statement(*sql_, text)).first;
        auto& insert = found->second;
        insert.tryReset();
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            bind_cell_of_row(insert, static_cast<int>(i) + 1, row.cells[i].second);
        insert.exec();
    } catch (const SQLite::Exception& error) {
        throw UserError(
            fmt::format("a row of the table {} does not fit: {}", row.table, error.what()));
    }
}

const std::filesystem::path& Staging::complete() {
    inserts_.clear();
    try {
        transaction_->commit();
    } catch (const SQLite::Exception& error) {
        throw UserError(fmt::format(
            "rows are missing to which others refer ({}); export the file again", error.what()));
    }
    transaction_.reset();
    sql_.reset();
    return file_;
}

}  // namespace assay::exchange
