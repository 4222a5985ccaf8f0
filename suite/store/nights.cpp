#include "suite/store/nights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "suite/store/described_rows.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {

ASSAY_FIELDS(NightRecord, id, suite, machine, session, program, started, finished, verdict)
ASSAY_FIELDS(NightRowRecord, id, median, evidence)
ASSAY_FIELDS(RegressionStep, at, night, state, why)
ASSAY_FIELDS(RegressionRecord, id, suite, machine, row, state, opened, changed, steps)
ASSAY_FIELDS(AcceptedLevel, baseline, row, session, at, why, since)
ASSAY_FIELDS(MuteRecord, pattern, metric, until, why, at, who, ended, ended_by, ended_why)

namespace {

/// When a row of the table is written: after all that it holds.
std::string time_in(SQLite::Database& sql, std::string_view table, std::string_view column) {
    return utc_after(
        sql.execAndGet(fmt::format("SELECT coalesce(max({}), '') FROM {}", column, table))
            .getString());
}

/// Newest last.
template <class Record, class SessionOf>
void sort_by_place(std::vector<Record>& records, SQLite::Database& sql, const SessionOf& session) {
    const std::map<std::string, long> places = recorded_places(sql);
    std::vector<std::pair<long, Record>> placed;
    for (Record& record : records) {
        const auto known = places.find(session(record));
        // What was pruned was old.
        placed.emplace_back(known == places.end() ? 0 : known->second, std::move(record));
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    records.clear();
    for (auto& [place, record] : placed) records.push_back(std::move(record));
}

/// Adds steps to regressions, which get their state.
class Steps {
  public:
    explicit Steps(SQLite::Database& sql)
        : insert_(sql, {.table = "regression_step",
                        .beside = {"regression"},
                        .computed = {{"ordinal",
                                      "(SELECT coalesce(max(ordinal) + 1, 0) FROM regression_step "
                                      "WHERE regression = :regression)"}}}),
          update_(sql, "UPDATE regression SET state = ?, changed = ? WHERE id = ?") {}

    void add(std::string_view regression, const RegressionStep& step) {
        insert_(step, {regression});
        bind_text_or_null(update_, 1, step.state);
        update_.bind(2, step.at);
        bind_text(update_, 3, regression);
        update_.exec();
        update_.reset();
    }

  private:
    Insert<RegressionStep> insert_;
    SQLite::Statement update_;
};

std::string open_regression(Insert<RegressionRecord>& insert, const NightRecord& night,
                            const RegressionMove& move, const std::string& at) {
    const RegressionRecord opened{.id = new_uuid(),
                                  .suite = night.suite,
                                  .machine = night.machine,
                                  .row = move.row,
                                  .opened = at,
                                  .changed = at};
    insert(opened);
    return opened.id;
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
        Insert<NightRecord> insert(sql, {.table = "night", .left_out = {"finished", "verdict"}});
        insert(night);
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
        Insert<NightRowRecord> insert(
            sql, {.table = "night_row", .beside = {"night"}, .then = "ON CONFLICT DO NOTHING"});
        for (const NightRowRecord& row : rows) insert(row, {night.id});
        Insert<RegressionRecord> opened(sql, {.table = "regression"});
        Steps steps(sql);
        const std::string at = time_in(sql, "regression", "changed");
        for (const RegressionMove& move : moves) {
            const auto known = newest_regression(sql, night, move);
            const std::string id =
                known && !move.anew ? *known : open_regression(opened, night, move, at);
            steps.add(id, {at, night.id, move.to, move.why});
        }
    });
}

std::vector<NightRecord> Nights::nights(std::string_view suite) const {
    return store_.impl_->database.read("read the nights", [&](SQLite::Database& sql) {
        auto all = select<NightRecord>(
            sql, {"night", "WHERE ?1 = '' OR suite = ?1 ORDER BY started, id"}, suite);
        sort_by_place(all, sql, std::mem_fn(&NightRecord::session));
        std::reverse(all.begin(), all.end());
        return all;
    });
}

nlohmann::json Nights::report(std::string_view night) const {
    return store_.impl_->database.read("read the report of a night", [&](SQLite::Database& sql) {
        SQLite::Statement find(sql, "SELECT report FROM night WHERE id = ?");
        bind_text(find, 1, night);
        if (!find.executeStep()) return nlohmann::json::object();
        auto report = nlohmann::json::parse(text_or_empty(find.getColumn(0)), nullptr, false);
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
                        "gate_row.id = night_row.gate_row WHERE suite = ? AND night.machine = ? "
                        "AND night.finished IS NOT NULL ORDER BY night.started, night.id, {0}",
                        gate_row_fields));
        bind_text(rows, 1, suite);
        bind_text(rows, 2, machine);
        const auto text = [&](int column) { return text_or_empty(rows.getColumn(column)); };
        std::vector<RowOfNight> all;
        while (rows.executeStep())
            all.push_back({text(0),
                           text(1),
                           text(2),
                           {gate_row_at(rows, 6), optional_real(rows.getColumn(3)), text(4)},
                           text(5)});
        sort_by_place(all, sql, std::mem_fn(&RowOfNight::session));
        return all;
    });
}

std::vector<RegressionRecord> Nights::regressions(std::string_view suite,
                                                  std::string_view machine) const {
    return store_.impl_->database.read("read the regressions", [&](SQLite::Database& sql) {
        auto all = select<RegressionRecord>(
            sql,
            {"regression",
             "JOIN gate_row ON gate_row.id = regression.gate_row WHERE (?1 = '' OR suite = ?1) AND "
             "(?2 = '' OR machine = ?2) ORDER BY opened, regression.id"},
            suite, machine);
        for (RegressionRecord& record : all)
            record.steps = select<RegressionStep>(
                sql, {"regression_step", "WHERE regression = ? ORDER BY ordinal"}, record.id);
        return all;
    });
}

void Nights::move(std::string_view regression, std::string_view state, std::string_view why) {
    store_.impl_->database.write("store the step of a regression", [&](SQLite::Database& sql) {
        Steps(sql).add(regression, {time_in(sql, "regression", "changed"), "", std::string(state),
                                    std::string(why)});
    });
}

void Nights::accept(const AcceptedLevel& level) {
    store_.impl_->database.write("accept a level", [&](SQLite::Database& sql) {
        AcceptedLevel dated = level;
        if (dated.at.empty()) dated.at = time_in(sql, "accepted_level", "at");
        Insert<AcceptedLevel> insert(
            sql, {.table = "accepted_level", .beside = {"id"}, .left_out = {"since"}});
        insert(dated, {new_uuid()});
    });
}

std::vector<AcceptedLevel> Nights::levels(std::string_view baseline) const {
    return store_.impl_->database.read("read the accepted levels", [&](SQLite::Database& sql) {
        return select<AcceptedLevel>(
            sql,
            {"accepted_level",
             "JOIN session ON session.id = accepted_level.session LEFT JOIN gate_row ON "
             "gate_row.id = accepted_level.gate_row WHERE ?1 = '' OR baseline = ?1 ORDER BY at, "
             "accepted_level.id",
             {{"since", "session.started"}}},
            baseline);
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
        MuteRecord dated = mute;
        if (dated.at.empty()) dated.at = now_utc();
        end_mute(sql, {mute.pattern, mute.metric, mute.who, "replaced", dated.at});
        Insert<MuteRecord> insert(
            sql, {.table = "mute",
                  .left_out = {"ended", "ended_by", "ended_why"},
                  .then = "ON CONFLICT (pattern, metric, at) DO UPDATE SET until = excluded.until, "
                          "why = excluded.why, who = excluded.who, ended = NULL, ended_by = '', "
                          "ended_why = ''"});
        insert(dated);
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
        return select<MuteRecord>(sql, {"mute", "ORDER BY pattern, metric, at"});
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
