// A database of our own in which arriving rows are put together before anything is believed.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "suite/exchange/row.hpp"

namespace assay::exchange {

/// A new empty folder under TMPDIR that only this user may enter; goes with the object.
class OwnFolder {
  public:
    OwnFolder();
    ~OwnFolder();
    OwnFolder(const OwnFolder&) = delete;
    OwnFolder& operator=(const OwnFolder&) = delete;
    std::filesystem::path operator/(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

class Staging {
  public:
    /// The tables of that version of the schema: of the program that wrote the rows.
    explicit Staging(int schema);

    /// UserError for an unknown column, a value of the wrong type, a row that is there already; who
    /// reads the file adds the place.
    void insert(const Row&);
    /// To be called once, after the last row; the file can be merged then, whatever its schema.
    /// UserError when rows refer to rows that did not come.
    const std::filesystem::path& complete();

  private:
    OwnFolder folder_;
    std::filesystem::path file_;
    std::unique_ptr<SQLite::Database> sql_;
    std::unique_ptr<SQLite::Transaction> transaction_;
    std::map<std::string, SQLite::Statement> inserts_;  // by their text
};

}  // namespace assay::exchange
