// Redacts the texts of a whole database.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "suite/exchange/redaction.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/series_id.hpp"
#include "suite/store/sha256.hpp"

namespace assay::exchange {
namespace {

std::map<std::string, std::string> aliases(SQLite::Database& sql,
                                           const std::vector<std::string>& names) {
    std::map<std::string, std::string> all;
    SQLite::Statement hosts(sql,
                            "SELECT json_extract(description, '$.hostname') AS host, fingerprint "
                            "FROM machine WHERE host <> '' AND host <> 'localhost' "
                            "ORDER BY fingerprint");
    while (hosts.executeStep()) {
        const auto host = hosts.getColumn(0).getString();
        const auto alias = "host-" + hosts.getColumn(1).getString().substr(0, 6);
        all.emplace(host, alias);
        // A host is also called by the first part of its full name.
        if (const auto dot = host.find('.'); dot != host.npos && dot > 0)
            all.emplace(host.substr(0, dot), alias);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) all.emplace(names[i], fmt::format("name-{}", i + 1));
    return all;
}

/// The specification's folders mean nothing elsewhere.
std::string without_folders(const std::string& spec, const Redaction& redaction) {
    auto json = nlohmann::json::parse(spec);
    for (const char* folder : {"scratch", "state", "shared"})
        if (json.contains(folder)) json[folder] = "";
    return redaction.text(store::json_text(json));
}

template <class Change>
void change_texts(SQLite::Database& sql, const std::string& table, const std::string& column,
                  Change change) {
    std::map<std::string, std::string> changed;
    SQLite::Statement rows(sql, fmt::format("SELECT DISTINCT {} FROM {} WHERE typeof({}) = 'text'",
                                            column, table, column));
    while (rows.executeStep()) {
        const auto before = rows.getColumn(0).getString();
        if (auto after = change(before); after != before) changed.emplace(before, std::move(after));
    }
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
    const Redaction redaction(aliases(sql, names));
    sql.exec("PRAGMA foreign_keys = OFF");  // ids of series change in two steps
    const auto plain = [&](const std::string& text) { return redaction.text(text); };
    for (const auto& [table, columns] : std::map<std::string, std::vector<std::string>>{
             {"machine", {"description"}},
             {"session", {"command", "suspects"}},
             {"series", {"axes", "scenario"}},
             {"sample", {"reason"}},
             {"metric", {"labels"}},
             {"event", {"detail"}},
             {"time_series", {"labels"}},
             {"data_table_cell", {"value"}},
             {"artifact", {"name"}},
             {"hardware", {"device", "throttle_reasons"}},
             {"claim_check", {"reason"}},
             {"calibration", {"fitted_from"}},
             {"baseline", {"name"}},
             {"annotation", {"words"}}})
        for (const auto& column : columns) change_texts(sql, table, column, plain);
    change_texts(sql, "sample", "spec",
                 [&](const std::string& spec) { return without_folders(spec, redaction); });
    rename_series(sql);
    redact_artifacts(sql, redaction);
    sql.exec("PRAGMA foreign_keys = ON");
}

}  // namespace assay::exchange
