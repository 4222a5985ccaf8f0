// A connection to a results database that has passed every check, and its transactions.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "suite/store/prepared.hpp"
#include "suite/store/private_copy.hpp"
#include "suite/store/runner_lock.hpp"
#include "suite/store/sql_error.hpp"
#include "suite/store/store.hpp"

namespace assay::store {

class Database {
  public:
    /// As Store::open(), without marking dead sessions.
    static Database open(const std::filesystem::path& file, Access access);
    /// For reading; a file of an older schema is read through a migrated private copy.
    static Database open_older(const std::filesystem::path& file);

    const std::filesystem::path& file() const { return file_; }
    /// What SQLite has open: the file, or the private copy of it.
    const std::filesystem::path& opened() const { return copy_ ? copy_->file() : file_; }
    const RunnerLock& runner() const { return *runner_; }
    SQLite::Database& sql() { return sql_; }
    bool writable() const { return runner_.has_value(); }
    /// For string literals that are run again and again; see PreparedStock.
    Prepared prepared(const char* literal) { return stock_.get(sql_, literal); }

    /// Calls f(sql) in one immediate transaction: all of it is stored, or nothing. `doing`
    /// completes "could not …" in the StoreError of a failure. StoreError when opened for reading.
    template <class F>
    auto write(std::string_view doing, F&& f) {
        refuse_unless_writable(doing);
        return in_transaction(doing, SQLite::TransactionBehavior::IMMEDIATE, f);
    }
    /// Calls f(sql) on one consistent state of the file, however many statements it runs.
    template <class F>
    auto read(std::string_view doing, F&& f) {
        return in_transaction(doing, SQLite::TransactionBehavior::DEFERRED, f);
    }

  private:
    Database(std::filesystem::path file, std::optional<PrivateCopy>, std::optional<RunnerLock>,
             SQLite::Database);
    enum class Older { is_refused, is_migrated_in_a_copy };
    static Database open_for_reading(const std::filesystem::path&, Older);
    static Database open_for_writing(const std::filesystem::path&);
    void refuse_unless_writable(std::string_view doing) const;

    template <class F>
    auto in_transaction(std::string_view doing, SQLite::TransactionBehavior behavior, F& f) {
        return guarded(file_, doing, [&] {
            SQLite::Transaction transaction(sql_, behavior);
            if constexpr (std::is_void_v<decltype(f(sql_))>) {
                f(sql_);
                transaction.commit();
            } else {
                auto result = f(sql_);
                transaction.commit();
                return result;
            }
        });
    }

    std::filesystem::path file_;
    std::optional<PrivateCopy> copy_;  // outlives the connection
    std::optional<RunnerLock> runner_;
    SQLite::Database sql_;
    PreparedStock stock_;  // goes before the connection
};

}  // namespace assay::store
