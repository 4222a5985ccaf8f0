// Statements that are compiled once per connection and used again.
#pragma once

#include <SQLiteCpp/Statement.h>

#include <memory>
#include <string>
#include <unordered_map>

namespace assay::store {

/// A statement of the connection's stock while somebody uses it; put back as new afterwards.
class Prepared {
  public:
    explicit Prepared(SQLite::Statement& statement) : statement_(&statement) {}
    ~Prepared();
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;

    SQLite::Statement* operator->() const { return statement_; }
    SQLite::Statement& operator*() const { return *statement_; }

  private:
    SQLite::Statement* statement_;
};

/// Compiling a statement takes as long as storing several rows. Keyed by the text's address: only
/// for string literals, and not for one text used twice at the same time.
class PreparedStock {
  public:
    Prepared get(SQLite::Database& sql, const char* literal);
    void clear() { statements_.clear(); }

  private:
    std::unordered_map<const char*, std::unique_ptr<SQLite::Statement>> statements_;
};

}  // namespace assay::store
