#include "suite/store/nights.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

std::string column_text(SQLite::Statement& rows, int index) {
    return text_or_empty(rows.getColumn(index));
}

void add_step(SQLite::Database& sql, std::string_view regression, std::string_view night,
              std::string_view state, std::string_view why) {
    SQLite::Statement insert(
        sql,
        "INSERT INTO regression_step (regression, ordinal, at, night, state, why) VALUES (?1, "
        "(SELECT coalesce(max(ordinal) + 1, 0) FROM regression_step WHERE regression = ?1), ?2, "
        "?3, ?4, ?5)");
    const std::string at = now_utc();
    bind_text(insert, 1, regression);
    insert.bind(2, at);
    bind_text_or_null(insert, 3, night);
    bind_text_or_null(insert, 4, state);
    bind_text(insert, 5, why);
    insert.exec();
    SQLite::Statement update(sql, "UPDATE regression SET state = ?, changed = ? WHERE id = ?");
    bind_text_or_null(update, 1, state);
    update.bind(2, at);
    bind_text(update, 3, regression);
    update.exec();
}

std::string open_regression(SQLite::Database& sql, const NightRecord& night,
                            const RegressionMove& move) {
    SQLite::Statement insert(
        sql,
        "INSERT INTO regression (id, suite, machine, gate_row, opened, changed) VALUES (?, ?, ?, "
        "?, ?, ?)");
    std::string id = new_uuid();
    const std::string at = now_utc();
    insert.bind(1, id);
    insert.bind(2, night.suite);
    insert.bind(3, night.machine);
    insert.bind(4, put_gate_row(sql, move.row));
    insert.bind(5, at);
    insert.bind(6, at);
    insert.exec();
    return id;
}

std::optional<std::string> newest_regression(SQLite::Database& sql, const NightRecord& night,
                                             const RegressionMove& move) {
    SQLite::Statement find(sql,
                           "SELECT id FROM regression WHERE suite = ? AND machine = ? AND gate_row "
                           "= ? ORDER BY opened DESC, id DESC LIMIT 1");
    find.bind(1, night.suite);
    find.bind(2, night.machine);
    find.bind(3, gate_row_id(gate_row_columns(move.row)));
    if (!find.executeStep()) return std::nullopt;
    return find.getColumn(0).getString();
}

std::vector<RegressionStep> steps_of(SQLite::Database& sql, const std::string& regression) {
    SQLite::Statement rows(sql,
                           "SELECT at, night, state, why FROM regression_step WHERE regression = ? "
                           "ORDER BY ordinal");
    rows.bind(1, regression);
    std::vector<RegressionStep> steps;
    while (rows.executeStep())
        steps.push_back({column_text(rows, 0), column_text(rows, 1), column_text(rows, 2),
                         column_text(rows, 3)});
    return steps;
}

struct EndOfMute {
    std::string_view pattern, metric, who, why;
    std::string at;
};

/// False: none holds at that time.
bool end_mute(SQLite::Database& sql, const EndOfMute& end) {
    SQLite::Statement update(
        sql,
        "UPDATE mute SET ended = ?1, ended_by = ?2, ended_why = ?3 WHERE pattern = ?4 AND metric = "
        "?5 AND ended IS NULL AND (until = '' OR until > ?1)");
    update.bind(1, end.at);
    bind_text(update, 2, end.who);
    bind_text(update, 3, end.why);
    bind_text(update, 4, end.pattern);
    bind_text(update, 5, end.metric);
    return update.exec() > 0;
}

}  // namespace

bool holds(const MuteRecord& mute, std::string_view now) {
    return mute.ended.empty() && (mute.until.empty() || now < mute.until);
}

std::string Nights::begin(const NightRecord& night) {
    return store_.impl_->database.write("begin a night", [&](SQLite::Database& sql) {
        SQLite::Statement find(sql, "SELECT id FROM night WHERE session = ?");
        find.bind(1, night.session);
        if (find.executeStep()) return find.getColumn(0).getString();
        SQLite::Statement insert(sql,
                                 "INSERT INTO night (id, suite, machine, session, program, "
                                 "started) VALUES (?, ?, ?, ?, ?, ?)");
        insert.bind(1, night.id);
        insert.bind(2, night.suite);
        insert.bind(3, night.machine);
        insert.bind(4, night.session);
        insert.bind(5, night.program);
        insert.bind(6, night.started);
        insert.exec();
        return night.id;
    });
}

void Nights::finish(const NightRecord& night, const nlohmann::json& report,
                    const std::vector<NightRowRecord>& rows,
                    const std::vector<RegressionMove>& moves) {
    store_.impl_->database.write("store the night", [&](SQLite::Database& sql) {
        SQLite::Statement update(
            sql, "UPDATE night SET finished = ?, verdict = ?, report = ? WHERE id = ?");
        update.bind(1, night.finished.empty() ? now_utc() : night.finished);
        update.bind(2, night.verdict);
        update.bind(3, json_text(report));
        update.bind(4, night.id);
        update.exec();
        SQLite::Statement insert(
            sql,
            "INSERT INTO night_row (night, gate_row, median, evidence) VALUES (?, ?, ?, ?) ON "
            "CONFLICT DO NOTHING");
        for (const NightRowRecord& row : rows) {
            insert.bind(1, night.id);
            insert.bind(2, put_gate_row(sql, row.id));
            bind_optional(insert, 3, row.median);
            insert.bind(4, row.evidence);
            insert.exec();
            insert.reset();
        }
        for (const RegressionMove& move : moves) {
            const auto known = newest_regression(sql, night, move);
            const std::string id = known && !move.anew ? *known : open_regression(sql, night, move);
            add_step(sql, id, night.id, move.to, move.why);
        }
    });
}

std::vector<NightRecord> Nights::nights(std::string_view suite) const {
    return store_.impl_->database.read("read the nights", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql,
                               "SELECT night.id, suite, night.machine, session, program, "
                               "night.started, night.finished, verdict FROM night LEFT JOIN "
                               "session ON session.id = night.session WHERE ?1 = '' OR suite = ?1 "
                               "ORDER BY night.started DESC, arrival DESC, night.id DESC");
        bind_text(rows, 1, suite);
        std::vector<NightRecord> all;
        while (rows.executeStep())
            all.push_back({column_text(rows, 0), column_text(rows, 1), column_text(rows, 2),
                           column_text(rows, 3), column_text(rows, 4), column_text(rows, 5),
                           column_text(rows, 6), column_text(rows, 7)});
        return all;
    });
}

nlohmann::json Nights::report(std::string_view night) const {
    return store_.impl_->database.read("read the report of a night", [&](SQLite::Database& sql) {
        SQLite::Statement find(sql, "SELECT report FROM night WHERE id = ?");
        bind_text(find, 1, night);
        if (!find.executeStep()) return nlohmann::json::object();
        nlohmann::json report = nlohmann::json::parse(column_text(find, 0), nullptr, false);
        return report.is_object() ? report : nlohmann::json::object();
    });
}

std::vector<RowOfNight> Nights::rows(std::string_view suite, std::string_view machine) const {
    return store_.impl_->database.read("read the nights' rows", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            fmt::format("SELECT night.id, night.started, night.session, median, evidence, "
                        "night.finished, {0} FROM "
                        "night JOIN night_row ON night_row.night = night.id JOIN gate_row ON "
                        "gate_row.id = night_row.gate_row LEFT JOIN session ON session.id = "
                        "night.session WHERE suite = ? AND night.machine = ? AND night.finished IS "
                        "NOT NULL ORDER BY night.started, arrival, night.id, {0}",
                        gate_row_fields));
        bind_text(rows, 1, suite);
        bind_text(rows, 2, machine);
        std::vector<RowOfNight> all;
        while (rows.executeStep())
            all.push_back(
                {column_text(rows, 0),
                 column_text(rows, 1),
                 column_text(rows, 2),
                 {gate_row_at(rows, 6), optional_real(rows.getColumn(3)), column_text(rows, 4)},
                 column_text(rows, 5)});
        return all;
    });
}

std::vector<RegressionRecord> Nights::regressions(std::string_view suite,
                                                  std::string_view machine) const {
    return store_.impl_->database.read("read the regressions", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            fmt::format("SELECT regression.id, suite, machine, state, opened, changed, {} FROM "
                        "regression JOIN gate_row ON gate_row.id = regression.gate_row WHERE (?1 = "
                        "'' OR suite = ?1) AND (?2 = '' OR machine = ?2) ORDER BY opened, "
                        "regression.id",
                        gate_row_fields));
        bind_text(rows, 1, suite);
        bind_text(rows, 2, machine);
        std::vector<RegressionRecord> all;
        while (rows.executeStep())
            all.push_back({column_text(rows, 0),
                           column_text(rows, 1),
                           column_text(rows, 2),
                           gate_row_at(rows, 6),
                           column_text(rows, 3),
                           column_text(rows, 4),
                           column_text(rows, 5),
                           {}});
        for (RegressionRecord& record : all) record.steps = steps_of(sql, record.id);
        return all;
    });
}

void Nights::move(std::string_view regression, std::string_view state, std::string_view why) {
    store_.impl_->database.write("store the step of a regression", [&](SQLite::Database& sql) {
        add_step(sql, regression, "", state, why);
    });
}

void Nights::accept(const AcceptedLevel& level) {
    store_.impl_->database.write("accept a level", [&](SQLite::Database& sql) {
        SQLite::Statement insert(
            sql,
            "INSERT INTO accepted_level (id, baseline, gate_row, session, at, why) VALUES (?, ?, "
            "?, ?, ?, ?)");
        insert.bind(1, new_uuid());
        insert.bind(2, level.baseline);
        if (level.row)
            insert.bind(3, put_gate_row(sql, *level.row));
        else
            insert.bind(3);
        insert.bind(4, level.session);
        insert.bind(5, level.at.empty() ? now_utc() : level.at);
        insert.bind(6, level.why);
        insert.exec();
    });
}

std::vector<AcceptedLevel> Nights::levels(std::string_view baseline) const {
    return store_.impl_->database.read("read the accepted levels", [&](SQLite::Database& sql) {
        SQLite::Statement rows(
            sql,
            fmt::format("SELECT baseline, session, at, why, session.started, gate_row.id, {} FROM "
                        "accepted_level JOIN session ON session.id = accepted_level.session LEFT "
                        "JOIN gate_row ON gate_row.id = accepted_level.gate_row WHERE ?1 = '' OR "
                        "baseline = ?1 ORDER BY at, accepted_level.id",
                        gate_row_fields));
        bind_text(rows, 1, baseline);
        std::vector<AcceptedLevel> all;
        while (rows.executeStep()) {
            AcceptedLevel level;
            level.baseline = column_text(rows, 0);
            if (!rows.getColumn(5).isNull()) level.row = gate_row_at(rows, 6);
            level.session = column_text(rows, 1);
            level.at = column_text(rows, 2);
            level.why = column_text(rows, 3);
            level.since = column_text(rows, 4);
            all.push_back(std::move(level));
        }
        return all;
    });
}

bool Nights::drop_baseline(std::string_view baseline) {
    return store_.impl_->database.write("drop a baseline", [&](SQLite::Database& sql) {
        SQLite::Statement levels(sql, "DELETE FROM accepted_level WHERE baseline = ?");
        bind_text(levels, 1, baseline);
        const int removed = levels.exec();
        SQLite::Statement named(sql, "DELETE FROM baseline WHERE name = ?");
        bind_text(named, 1, baseline);
        return named.exec() + removed > 0;
    });
}

void Nights::mute(const MuteRecord& mute) {
    store_.impl_->database.write("mute", [&](SQLite::Database& sql) {
        const std::string at = mute.at.empty() ? now_utc() : mute.at;
        end_mute(sql, {mute.pattern, mute.metric, mute.who, "replaced", at});
        SQLite::Statement insert(
            sql,
            "INSERT INTO mute (pattern, metric, at, until, why, who) VALUES (?, ?, ?, ?, ?, ?) ON "
            "CONFLICT (pattern, metric, at) DO UPDATE SET until = excluded.until, why = "
            "excluded.why, who = excluded.who, ended = NULL, ended_by = '', ended_why = ''");
        insert.bind(1, mute.pattern);
        insert.bind(2, mute.metric);
        insert.bind(3, at);
        insert.bind(4, mute.until);
        insert.bind(5, mute.why);
        insert.bind(6, mute.who);
        insert.exec();
    });
}

bool Nights::unmute(std::string_view pattern, std::string_view metric, std::string_view who,
                    std::string_view why) {
    return store_.impl_->database.write("unmute", [&](SQLite::Database& sql) {
        return end_mute(sql, {pattern, metric, who, why, now_utc()});
    });
}

std::vector<MuteRecord> Nights::all_mutes() const {
    return store_.impl_->database.read("read the mutes", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql,
                               "SELECT pattern, metric, until, why, at, who, ended, ended_by, "
                               "ended_why FROM mute ORDER BY pattern, metric, at");
        std::vector<MuteRecord> all;
        while (rows.executeStep())
            all.push_back({column_text(rows, 0), column_text(rows, 1), column_text(rows, 2),
                           column_text(rows, 3), column_text(rows, 4), column_text(rows, 5),
                           column_text(rows, 6), column_text(rows, 7), column_text(rows, 8)});
        return all;
    });
}

std::vector<MuteRecord> Nights::mutes() const {
    std::vector<MuteRecord> all = all_mutes();
    std::erase_if(all, [](const MuteRecord& mute) { return !mute.ended.empty(); });
    return all;
}

std::string Nights::file_made() const {
    return store_.impl_->database.read("read the age of the file", [](SQLite::Database& sql) {
        return sql.execAndGet("SELECT coalesce(min(applied), '') FROM schema_version").getString();
    });
}

}  // namespace assay::store
