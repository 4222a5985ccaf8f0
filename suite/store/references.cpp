// What results are read against: annotations, calibrations, baselines.
#include <fmt/format.h>

#include "suite/store/impl.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/sha256.hpp"
#include "suite/store/uuid.hpp"

namespace assay::store {
namespace {

struct Subject {
    std::string id;
    bool session;
};

/// A sample's id begins as its session's: what names both says so, and never decides for one.
Subject resolve_subject(SQLite::Database& sql, std::string_view id) {
    if (!begins_any(sql, "session", id)) return {resolve(sql, "sample", id), false};
    auto session = resolve(sql, "session", id);
    if (session != id && begins_any(sql, "sample", id))
        throw StoreError(
            fmt::format("both a session and a sample have ids that begin with \"{}\". Type more "
                        "of it.",
                        id));
    return {std::move(session), true};
}

}  // namespace

void Store::annotate(std::string_view id, std::string_view text) {
    impl_->database.write("store the annotation", [&](SQLite::Database& sql) {
        const auto subject = resolve_subject(sql, id);
        SQLite::Statement insert(
            sql, fmt::format("INSERT INTO annotation (id, {}, at, words) VALUES (?, ?, ?, ?)",
                             subject.session ? "session" : "sample"));
        insert.bind(1, new_uuid());
        insert.bind(2, subject.id);
        insert.bind(3, now_utc());
        bind_text(insert, 4, text);
        insert.exec();
    });
}

std::vector<Annotation> Store::annotations(std::string_view id) const {
    return impl_->database.read("read the annotations", [&](SQLite::Database& sql) {
        const auto subject = resolve_subject(sql, id);
        SQLite::Statement rows(
            sql, fmt::format("SELECT at, words FROM annotation WHERE {} = ? ORDER BY at, id",
                             subject.session ? "session" : "sample"));
        rows.bind(1, subject.id);
        std::vector<Annotation> all;
        while (rows.executeStep())
            all.push_back(
                {subject.id, rows.getColumn(0).getString(), rows.getColumn(1).getString()});
        return all;
    });
}

std::string calibration_hash(const nlohmann::json& parameters) {
    return sha256_hex(json_text(parameters));
}

void Store::put_calibration(const Calibration& calibration) {
    impl_->database.write("store the calibration", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO calibration (hash, name, parameters, fitted_from, created) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING");
        insert.bind(1, calibration.hash);
        insert.bind(2, calibration.name);
        insert.bind(3, json_text(calibration.parameters));
        insert.bind(4, json_text(calibration.fitted_from));
        insert.bind(5, calibration.created.empty() ? now_utc() : calibration.created);
        insert.exec();
    });
}

std::optional<Calibration> Store::calibration(std::string_view hash) const {
    return impl_->database.read("read the calibration", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            "SELECT hash, name, parameters, fitted_from, created FROM calibration WHERE hash = ?");
        bind_text(rows, 1, hash);
        if (!rows.executeStep()) return std::optional<Calibration>();
        return std::optional(Calibration{
            rows.getColumn(0).getString(), rows.getColumn(1).getString(),
            nlohmann::json::parse(rows.getColumn(2).getString()),
            nlohmann::json::parse(rows.getColumn(3).getString()), rows.getColumn(4).getString()});
    });
}

void Store::set_baseline(std::string_view name, std::string_view session) {
    if (name.empty()) throw StoreError("a baseline needs a name.");
    impl_->database.write("store the baseline", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO baseline (name, session, created) VALUES (?, ?, ?) ON CONFLICT "
            "(name) DO UPDATE SET session = excluded.session, created = excluded.created");
        bind_text(insert, 1, name);
        insert.bind(2, resolve(sql, "session", session));
        insert.bind(3, now_utc());
        insert.exec();
    });
}

std::vector<Baseline> Store::baselines() const {
    return impl_->database.read("read the baselines", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql, "SELECT name, session, created FROM baseline ORDER BY name");
        std::vector<Baseline> all;
        while (rows.executeStep())
            all.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                           rows.getColumn(2).getString()});
        return all;
    });
}

}  // namespace assay::store
