// Redacts the texts of a whole database.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "suite/base/sha256.hpp"
#include "suite/import_export/redaction.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"

namespace assay::import_export {
namespace {

std::map<std::string, std::string> aliases(SQLite::Database& sql,
                                           const std::vector<std::string>& names) {
    std::map<std::string, std::string> all;
    SQLite::Statement hosts(
        sql, fmt::format("SELECT {} AS host, machine FROM session WHERE host <> '' AND host <> "
                         "'localhost' GROUP BY machine, host ORDER BY machine, min(started), host",
                         store::host_of_session));
    std::map<std::string, int> of_machine;  // several hosts may have equal hardware
    while (hosts.executeStep()) {
        const auto host = hosts.getColumn(0).getString(), machine = hosts.getColumn(1).getString();
        const int which = ++of_machine[machine];
        const auto alias =
            fmt::format("host-{:.6}{}", machine, which == 1 ? "" : fmt::format("-{}", which));
        all.emplace(host, alias);
        // A host is also called by the first part of its full name.
        if (const auto dot = host.find('.'); dot != host.npos && dot > 0)
            all.emplace(host.substr(0, dot), alias);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) all.emplace(names[i], fmt::format("name-{}", i + 1));
    return all;
}

using Texts = std::map<std::string, std::string>;  // what was → what becomes of it

std::string with_hash(const std::string& after, const std::string& before) {
    return fmt::format("{}~{:.8}", after, sha256_hex(before));
}

enum class Members { stay, change };

/// Texts of a database without names and folders. `apart`: with a hash, because another one would
/// become equal.
class Cleaner {
  public:
    explicit Cleaner(const Redaction& redaction) : redaction_(redaction) {}

    std::string plain(const std::string& before, bool apart = false) const {
        auto after = redaction_.text(before);
        return apart && after != before ? with_hash(after, before) : after;
    }

    /// Serialised JSON would hide names behind escapes, and its members are the program's own.
    std::string json(const std::string& before, bool apart = false,
                     Members members = Members::stay) const {
        const auto value = nlohmann::json::parse(before, nullptr, false);
        if (value.is_discarded()) return plain(before, apart);
        const auto after = cleaned(value, apart, members);
        return after == value ? before : store::json_text(after);
    }

  private:
    nlohmann::json cleaned(const nlohmann::json& value, bool apart, Members members) const {
        if (value.is_string()) return plain(value.get<std::string>(), apart);
        if (!value.is_structured()) return value;
        auto all = value.is_array() ? nlohmann::json::array() : nlohmann::json::object();
        for (const auto& [key, inner] : value.items()) {
            auto inside = cleaned(inner, apart, members);
            if (value.is_array()) {
                all.push_back(std::move(inside));
                continue;
            }
            auto name = members == Members::change ? plain(key) : key;
            if (name != key && (all.contains(name) || value.contains(name)))
                name = with_hash(name, key);
            all[name] = std::move(inside);
        }
        return all;
    }

    const Redaction& redaction_;
};

void replace_texts(SQLite::Database& sql, const std::string& table, const std::string& column,
                   const Texts& changed) {
    if (changed.empty()) return;
    sql.exec("CREATE TEMP TABLE changed (was TEXT PRIMARY KEY, becomes TEXT) WITHOUT ROWID");
    {
        SQLite::Statement insert(sql, "INSERT INTO changed VALUES (?, ?)");
        for (const auto& [was, becomes] : changed) {
            insert.bind(1, was);
            insert.bind(2, becomes);
            insert.exec();
            insert.reset();
        }
    }
    sql.exec(
        fmt::format("UPDATE {0} SET {1} = (SELECT becomes FROM changed WHERE was = {1}) "
                    "WHERE {1} IN (SELECT was FROM changed)",
                    table, column));
    sql.exec("DROP TABLE changed");
}

/// Calls f for each text of a column, once.
template <class F>
void each_text(SQLite::Database& sql, const std::string& table, const std::string& column, F f) {
    SQLite::Statement rows(sql, fmt::format("SELECT DISTINCT {0} FROM {1} WHERE typeof({0}) = "
                                            "'text'",
                                            column, table));
    while (rows.executeStep()) f(rows.getColumn(0).getString());
}

template <class Change>
void change_texts(SQLite::Database& sql, const std::string& table, const std::string& column,
                  Change change) {
    Texts changed;
    each_text(sql, table, column, [&](const std::string& before) {
        if (auto after = change(before); after != before) changed.emplace(before, std::move(after));
    });
    replace_texts(sql, table, column, changed);
}

/// The same for texts that tell rows apart: what differs goes on differing. Returns what changed.
template <class Change>
Texts change_identities(SQLite::Database& sql, const std::string& table, const std::string& column,
                        Change change) {
    Texts changed;
    std::map<std::string, int> same;
    each_text(sql, table, column, [&](const std::string& before) {
        auto after = change(before, false);
        ++same[after];
        if (after != before) changed.emplace(before, std::move(after));
    });
    for (auto& [before, after] : changed)
        if (same[after] > 1) after = change(before, true);
    replace_texts(sql, table, column, changed);
    return changed;
}

/// Axes and scenario as in the sample's series; its folders mean nothing elsewhere.
std::string cleaned_spec(const std::string& before, const Texts& axes, const Texts& scenarios,
                         const Cleaner& clean) {
    auto spec = nlohmann::json::parse(before);
    for (const char* folder : {"scratch", "state", "shared"})
        if (spec.contains(folder)) spec[folder] = "";
    if (spec.contains("case")) {
        const auto text = store::json_text(spec["case"]);
        const auto found = axes.find(text);
        spec["case"] =
            nlohmann::json::parse(found != axes.end() ? found->second : clean.json(text));
    }
    if (spec.contains("scenario") && spec["scenario"].is_string())
        if (const auto found = scenarios.find(spec["scenario"].get<std::string>());
            found != scenarios.end())
            spec["scenario"] = found->second;
    return store::json_text(spec);
}

/// Series whose axes changed get the id that follows from them.
void rename_series(SQLite::Database& sql) {
    std::map<std::string, std::string> renamed;
    SQLite::Statement rows(sql, "SELECT * FROM series");
    while (rows.executeStep()) {
        std::vector<std::string> columns;
        for (int i = 1; i < rows.getColumnCount(); ++i)
            columns.push_back(rows.getColumn(i).getString());
        const auto id = rows.getColumn(0).getString();
        if (auto follows = store::series_id(columns); follows != id)
            renamed.emplace(id, std::move(follows));
    }
    for (const auto& [was, becomes] : renamed)
        for (const char* text : {"UPDATE series SET id = ?1 WHERE id = ?2",
                                 "UPDATE sample SET series = ?1 WHERE "
                                 "series = ?2"}) {
            SQLite::Statement update(sql, text);
            update.bind(1, becomes);
            update.bind(2, was);
            update.exec();
        }
}

void redact_artifacts(SQLite::Database& sql, const Redaction& redaction) {
    SQLite::Statement rows(sql, "SELECT sha256, bytes FROM artifact_blob");
    std::map<std::string, std::string> changed;  // hash → new bytes
    while (rows.executeStep()) {
        const auto column = rows.getColumn(1);
        const auto* data = static_cast<const char*>(column.getBlob());
        const std::string bytes(data ? data : "", static_cast<std::size_t>(column.getBytes()));
        // Text that is not UTF-8 does not survive the way through JSON.
        const bool is_text = bytes.find('\0') == bytes.npos &&
                             nlohmann::json::parse(store::json_text(bytes)) == bytes;
        if (is_text) {
            if (auto after = redaction.text(bytes); after != bytes)
                changed.emplace(rows.getColumn(0).getString(), std::move(after));
        } else if (redaction.concerns(bytes)) {
            changed.emplace(
                rows.getColumn(0).getString(),
                fmt::format("removed: {} bytes that held the name of a host\n", bytes.size()));
        }
    }
    for (const auto& [was, bytes] : changed) {
        const auto becomes = sha256_hex(bytes);
        SQLite::Statement insert(sql, "INSERT OR IGNORE INTO artifact_blob VALUES (?, ?)");
        insert.bind(1, becomes);
        store::bind_blob(insert, 2, bytes);
        insert.exec();
        SQLite::Statement update(sql, "UPDATE artifact SET sha256 = ? WHERE sha256 = ?");
        update.bind(1, becomes);
        update.bind(2, was);
        update.exec();
        SQLite::Statement remove(sql, "DELETE FROM artifact_blob WHERE sha256 = ?");
        remove.bind(1, was);
        remove.exec();
    }
}

}  // namespace

void redact(SQLite::Database& sql, const std::vector<std::string>& names) {
    const Redaction redaction(aliases(sql, names)), paths_only({});
    const Cleaner clean(redaction), clean_paths(paths_only);
    sql.exec("PRAGMA foreign_keys = OFF");  // ids of series change in two steps
    const auto plain = [&](const std::string& text, bool apart = false) {
        return clean.plain(text, apart);
    };
    const auto json = [&](const std::string& text, bool apart = false) {
        return clean.json(text, apart);
    };
    for (const auto& [table, column] :
         std::vector<std::pair<const char*, const char*>>{{"session", "command"},
                                                          {"sample", "reason"},
                                                          {"data_table_cell", "value"},
                                                          {"artifact", "name"},
                                                          {"claim_check", "reason"},
                                                          {"annotation", "words"}})
        change_texts(sql, table, column, plain);
    for (const auto& [table, column] : std::vector<std::pair<const char*, const char*>>{
             {"machine", "description"}, {"session", "suspects"}, {"calibration", "fitted_from"}})
        change_texts(sql, table, column, json);
    change_texts(sql, "event", "detail", [&](const std::string& detail) {
        return clean.json(detail, false, Members::change);
    });
    change_identities(sql, "metric", "labels", json);
    change_identities(sql, "time_series", "labels", json);
    change_identities(sql, "baseline", "name", plain);
    const auto axes = change_identities(sql, "series", "axes", json);
    // The words of a scenario are the program's own.
    const auto scenarios = change_identities(
        sql, "series", "scenario",
        [&](const std::string& text, bool apart) { return clean_paths.plain(text, apart); });
    change_texts(sql, "sample", "spec", [&](const std::string& spec) {
        return cleaned_spec(spec, axes, scenarios, clean);
    });
    rename_series(sql);
    redact_artifacts(sql, redaction);
    for (const char* table : {"night_row", "regression_step", "night", "regression",
                              "accepted_level", "gate_row", "mute"})
        sql.exec(fmt::format("DELETE FROM {}", table));
    sql.exec("PRAGMA foreign_keys = ON");
}

}  // namespace assay::import_export
