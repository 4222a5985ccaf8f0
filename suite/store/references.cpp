// What results are read with: annotations, calibrations, baselines, checks of claims, and what
// metrics are measured in, for readers that do not have the registry.
#include <fmt/format.h>

#include "suite/base/sha256.hpp"
#include "suite/store/described_rows.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

ASSAY_FIELDS(Calibration, hash, name, parameters, fitted_from, created)
ASSAY_FIELDS(Baseline, name, session, created)
ASSAY_FIELDS(MetricUnit, experiment, name, unit, better)

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

ClaimVerdict verdict_of(const std::string& text) {
    if (const auto verdict = of_word<ClaimVerdict>(text)) return *verdict;
    if (text == "open discrepancy") return ClaimVerdict::undecided;  // of older rules: judged anew
    throw std::invalid_argument("the verdict \"" + text + "\"");
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
        Calibration dated = calibration;
        if (dated.created.empty()) dated.created = now_utc();
        Insert<Calibration> insert(
            sql, {.table = "calibration", .then = "ON CONFLICT (hash) DO NOTHING"});
        insert(dated);
    });
}

std::optional<Calibration> Store::calibration(std::string_view hash) const {
    return impl_->database.read("read the calibration", [&](SQLite::Database& sql) {
        return first(select<Calibration>(sql, {"calibration", "WHERE hash = ?"}, hash));
    });
}

void Store::set_baseline(std::string_view name, std::string_view session) {
    if (name.empty()) throw StoreError("a baseline needs a name.");
    impl_->database.write("store the baseline", [&](SQLite::Database& sql) {
        Insert<Baseline> insert(
            sql, {.table = "baseline",
                  .then = "ON CONFLICT (name) DO UPDATE SET session = excluded.session, "
                          "created = excluded.created"});
        insert({std::string(name), resolve(sql, "session", session), now_utc()});
    });
}

std::vector<Baseline> Store::baselines() const {
    return impl_->database.read("read the baselines", [&](SQLite::Database& sql) {
        return select<Baseline>(sql, {"baseline", "ORDER BY name"});
    });
}

void Store::put_claim_checks(std::string_view session, const std::vector<ClaimCheck>& checks) {
    impl_->database.write("store the claim checks", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO claim_check (id, session, claim, at, ordinal, verdict, reason, "
            "provenance, obtained, rules) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        const auto at =
            utc_after(sql.execAndGet("SELECT coalesce(max(at), '') FROM claim_check").getString());
        std::int64_t ordinal = 0;
        for (const auto& check : checks) {
            insert.bind(1, new_uuid());
            bind_text_or_null(insert, 2, session);
            insert.bind(3, check.claim);
            insert.bind(4, at);
            insert.bind(5, ordinal++);
            bind_text(insert, 6, to_string(check.verdict));
            insert.bind(7, check.reason);
            bind_text_or_null(insert, 8, check.provenance ? to_string(*check.provenance) : "");
            bind_optional(insert, 9, check.obtained);
            insert.bind(10, claim_rules);
            insert.exec();
            insert.reset();
        }
    });
}

std::vector<StoredCheck> Store::newest_claim_checks() const {
    return impl_->database.read("read the claim checks", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            "SELECT session, claim, at, verdict, reason, provenance, obtained, rules FROM ("
            "SELECT *, row_number() OVER (PARTITION BY claim ORDER BY at DESC, ordinal DESC, id) "
            "AS age FROM claim_check) WHERE age = 1 ORDER BY claim");
        std::vector<StoredCheck> all;
        while (rows.executeStep()) {
            StoredCheck stored;
            stored.session = text_or_empty(rows.getColumn(0));
            stored.at = rows.getColumn(2).getString();
            stored.check.claim = rows.getColumn(1).getString();
            stored.check.verdict = verdict_of(rows.getColumn(3).getString());
            stored.check.reason = rows.getColumn(4).getString();
            stored.check.provenance = of_word<Provenance>(text_or_empty(rows.getColumn(5)));
            stored.check.obtained = optional_real(rows.getColumn(6));
            stored.rules = rows.getColumn(7).getInt();
            all.push_back(std::move(stored));
        }
        return all;
    });
}

void Store::put_metric_units(const std::vector<MetricUnit>& units) {
    impl_->database.write("store the units of metrics", [&](SQLite::Database& sql) {
        Insert<MetricUnit> insert(
            sql, {.table = "metric_unit",
                  .then = "ON CONFLICT (experiment, name) DO UPDATE SET unit = excluded.unit, "
                          "better = excluded.better"});
        for (const MetricUnit& unit : units) insert(unit);
    });
}

std::vector<MetricUnit> Store::metric_units(std::string_view experiment) const {
    return impl_->database.read("read the units of metrics", [&](SQLite::Database& sql) {
        return select<MetricUnit>(sql, {"metric_unit", "WHERE experiment = ? ORDER BY name"},
                                  experiment);
    });
}

}  // namespace assay::store
