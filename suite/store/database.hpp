// A connection to a results database that has passed every check, its transactions and statements;
// what SQLite says becomes a sentence for the user.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "suite/store/database_file.hpp"
#include "suite/store/store.hpp"

namespace assay::store {

/// `task` completes "could not …".
[[noreturn]] void throw_store_error(const std::filesystem::path& file, std::string_view task,
                                    const SQLite::Exception&);
/// A stored value that this program cannot have written.
[[noreturn]] void throw_unreadable_value(const std::filesystem::path& file, std::string_view task,
                                         std::string_view why);

/// Calls f; whatever goes wrong with the file leaves it as StoreError.
template <class F>
decltype(auto) with_store_errors(const std::filesystem::path& file, std::string_view task, F&& f) {
    try {
        return f();
    } catch (const SQLite::Exception& error) {
        throw_store_error(file, task, error);
    } catch (const nlohmann::json::exception& error) {
        throw_unreadable_value(file, task, error.what());
    } catch (const std::invalid_argument& error) {
        throw_unreadable_value(file, task, error.what());
    }
}

/// A statement of the connection's cache while somebody uses it; put back as new afterwards.
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

/// Declared before a transaction: once that is gone, the connection is outside of any. An
/// interruption that is still under way when the transaction's destructor rolls back interrupts the
/// roll-back too, and SQLite would refuse every later transaction of the connection.
class EndOfTransaction {
  public:
    explicit EndOfTransaction(SQLite::Database& sql) : sql_(&sql) {}
    ~EndOfTransaction();
    EndOfTransaction(const EndOfTransaction&) = delete;
    EndOfTransaction& operator=(const EndOfTransaction&) = delete;

  private:
    SQLite::Database* sql_;
};

/// Compiling a statement takes as long as storing several rows. Keyed by the text's address: only
/// for string literals, and not for one text used twice at the same time.
class StatementCache {
  public:
    Prepared get(SQLite::Database& sql, const char* literal);

  private:
    std::unordered_map<const char*, std::unique_ptr<SQLite::Statement>> statements_;
};

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
    bool is_copy() const { return copy_.has_value(); }
    /// Under the name of the file there is another one now, or none.
    bool replaced();
    /// For string literals that are run again and again; see StatementCache.
    Prepared prepared(const char* literal) { return statements_.get(sql_, literal); }

    /// Calls f(sql) in one immediate transaction: all of it is stored, or nothing. `task`
    /// completes "could not …" in the StoreError of a failure. StoreError when opened for reading.
    template <class F>
    auto write(std::string_view task, F&& f) {
        refuse_unless_writable(task);
        const auto known = [&](SQLite::Database& sql) {
            note_writer();
            return f(sql);
        };
        if constexpr (std::is_void_v<decltype(f(sql_))>) {
            in_transaction(task, SQLite::TransactionBehavior::IMMEDIATE, known);
            writer_is_noted_ = true;
        } else {
            auto result = in_transaction(task, SQLite::TransactionBehavior::IMMEDIATE, known);
            writer_is_noted_ = true;
            return result;
        }
    }
    /// The same for an f that returns nothing, without waiting: false, with nothing done, while
    /// another process is writing.
    template <class F>
    bool write_unless_busy(std::string_view task, F&& f) {
        refuse_unless_writable(task);
        return with_store_errors(file_, task, [&] {
            const EndOfTransaction end(sql_);
            std::optional<SQLite::Transaction> transaction;
            if (!begin_unless_busy(transaction)) return false;
            note_writer();
            f(sql_);
            transaction->commit();
            writer_is_noted_ = true;
            return true;
        });
    }
    /// Calls f(sql) on one consistent state of the file, however many statements it runs.
    template <class F>
    auto read(std::string_view task, F&& f) {
        return in_transaction(task, SQLite::TransactionBehavior::DEFERRED, f);
    }

  private:
    Database(std::filesystem::path file, std::optional<PrivateCopy>, std::optional<RunnerLock>,
             SQLite::Database);
    enum class Older { is_refused, is_migrated_in_a_copy };
    static Database open_for_reading(const std::filesystem::path&, Older);
    static Database open_for_writing(const std::filesystem::path&);
    void refuse_unless_writable(std::string_view task) const;
    bool begin_unless_busy(std::optional<SQLite::Transaction>&);
    /// Whose changes come next, before the first of this connection's.
    void note_writer();

    template <class F>
    auto in_transaction(std::string_view task, SQLite::TransactionBehavior behavior, F& f) {
        return with_store_errors(file_, task, [&] {
            const EndOfTransaction end(sql_);
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
    StatementCache statements_;  // goes before the connection
    bool writer_is_noted_ = false;
};

}  // namespace assay::store
