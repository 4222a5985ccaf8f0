// Opening and closing a Store, and the short ids by which people name what is in it.
#include "suite/store/store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "suite/store/row_codec.hpp"
#include "suite/store/schema/migration.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace fs = std::filesystem;

fs::path default_path() {
    const auto from = [](const char* name) -> fs::path {
        const char* value = std::getenv(name);
        return value ? value : "";
    };
    if (const auto file = from("ASSAY_DB"); !file.empty()) return file;
    // The XDG specification says that a relative path is to be ignored.
    if (const auto folder = from("XDG_DATA_HOME"); folder.is_absolute())
        return folder / "assay" / "results.db";
    if (const auto home = from("HOME"); !home.empty())
        return home / ".local" / "share" / "assay" / "results.db";
    throw StoreError(
        "neither ASSAY_DB nor XDG_DATA_HOME nor HOME is set: say with --db where the results "
        "database is.");
}

Store Store::open(const fs::path& file, Access access) {
    auto database = Database::open(file, access);
    if (access == Access::write) interrupt_dead_sessions(database);
    return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

const fs::path& Store::path() const { return impl_->database.file(); }
bool Store::replaced() const { return impl_->database.replaced(); }
int Store::schema() { return migrations().back().to; }
void Store::interrupt() const noexcept { sqlite3_interrupt(impl_->database.sql().getHandle()); }
bool Store::is_copy() const { return impl_->database.is_copy(); }

// ---- short ids: the first characters of a UUID name it as long as no other begins so ------------

namespace {

constexpr std::size_t shortest = 4;
constexpr std::size_t listed = 8;

std::string lower_case(std::string_view typed) {
    std::string text(typed);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    return text;
}

std::vector<std::string> beginning_with(SQLite::Database& sql, std::string_view table,
                                        const std::string& prefix) {
    // '~' sorts after every character of an id, so this is a range of the primary key.
    SQLite::Statement find(
        sql, fmt::format("SELECT id FROM {} WHERE id >= ? AND id < ? || '~' LIMIT {}", table,
                         listed + 1));
    find.bind(1, prefix);
    find.bind(2, prefix);
    std::vector<std::string> ids;
    while (find.executeStep()) ids.push_back(find.getColumn(0).getString());
    return ids;
}

}  // namespace

bool begins_any(SQLite::Database& sql, std::string_view table, std::string_view typed) {
    return !beginning_with(sql, table, lower_case(typed)).empty();
}

std::string resolve(SQLite::Database& sql, std::string_view table, std::string_view typed) {
    const std::string prefix = lower_case(typed);
    if (prefix.size() < shortest)
        throw StoreError(fmt::format("\"{}\" is too short for an id: type at least {} characters.",
                                     typed, shortest));
    auto ids = beginning_with(sql, table, prefix);
    if (ids.empty())
        throw StoreError(fmt::format("no {} has an id that begins with \"{}\".", table, typed));
    if (ids.size() == 1 || ids.front() == prefix) return ids.front();
    const bool more = ids.size() > listed;
    if (more) ids.pop_back();
    throw StoreError(
        fmt::format("several {}s have ids that begin with \"{}\": {}{}. Type more of it.", table,
                    typed, fmt::join(ids, ", "), more ? " …" : ""));
}

std::string Store::resolve_session(std::string_view id) const {
    return impl_->database.read("find a session",
                                [&](SQLite::Database& sql) { return resolve(sql, "session", id); });
}

std::string Store::resolve_sample(std::string_view id) const {
    return impl_->database.read("find a sample",
                                [&](SQLite::Database& sql) { return resolve(sql, "sample", id); });
}

bool Store::has_sample(std::string_view id) const {
    return impl_->database.read("look for a sample", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, "SELECT 1 FROM sample WHERE id = ?");
        bind_text(rows, 1, id);
        return rows.executeStep();
    });
}

}  // namespace assay::store
