// Rows of the gate as version 2 of the schema named them, two texts each, get their identity: from
// the samples of their night where these are still there, else as in the suite's newest night that
// has some, else from the newest series of that name.
// Where no such series is left, the texts themselves are taken apart, here and nowhere else, so
// that no row is lost; profile and provenance stay unknown then.
#include <algorithm>
#include <array>
#include <map>

#include "suite/store/row_codec.hpp"
#include "suite/store/schema/migration.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

struct OldSeries {
    std::string id;
    RowId row;  ///< without metric
};

/// "a=1 b=two words": a word without '=' belongs to the value before it. What comes before the
/// first value is appended to `before`, word by word.
Case values_in(const std::string& text, std::vector<std::string>& before) {
    Case values;
    std::string name, value;
    const auto end_value = [&] {
        if (name.empty()) return;
        const Value typed = parse_value(value);
        values[name] = to_string(typed) == value ? typed : Value(value);  // "01" is no number
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        const std::size_t equals = word.find('=');
        if (equals != word.npos && equals > 0) {
            end_value();
            name = word.substr(0, equals);
            value = word.substr(equals + 1);
        } else if (!name.empty()) {
            value += ' ' + word;
        } else {
            before.push_back(word);
        }
    }
    end_value();
    return values;
}

std::string joined(const std::vector<std::string>& words, std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < words.size(); ++i) text += (i > first ? " " : "") + words[i];
    return text;
}

/// What does not come together again as it was stays whole, so that two rows stay two.
void take_series_apart(const std::string& text, RowId& row) {
    std::vector<std::string> words;
    row.axes = values_in(text, words);
    if (!words.empty()) row.experiment = words.front();
    row.variant = joined(words, 1);
    if (row.series_text() == text) return;
    row.experiment.clear();
    row.variant = text;
    row.axes.clear();
}

void take_metric_apart(const std::string& text, RowId& row) {
    std::vector<std::string> words;
    row.labels = values_in(text, words);
    row.metric = joined(words, 0);
    if (row.metric_text() == text) return;
    row.metric = text;
    row.labels.clear();
}

class OldNames {
  public:
    explicit OldNames(SQLite::Database& sql)
        : in_session_(sql,
                      "SELECT min(started) FROM sample WHERE series = ? AND session = ? AND "
                      "status <> 'running'"),
          newest_(sql,
                  "SELECT (session.machine = ?2) || session.started, session.id FROM sample JOIN "
                  "session ON session.id = sample.session WHERE sample.series = ?1 ORDER BY 1 "
                  "DESC LIMIT 1"),
          metrics_(sql,
                   "SELECT DISTINCT name, labels FROM sample CROSS JOIN metric ON metric.sample = "
                   "sample.id WHERE sample.series = ? AND sample.session = ?") {
        SQLite::Statement rows(
            sql,
            "SELECT id, experiment, variant, axes, profile, provenance, scenario FROM series "
            "ORDER BY id");
        while (rows.executeStep()) {
            const auto text = [&](int column) { return rows.getColumn(column).getString(); };
            OldSeries series{text(0), {}};
            series.row.experiment = text(1);
            series.row.variant = text(2);
            series.row.axes = case_from_text(text(3));
            series.row.profile = of_word<Profile>(text(4));
            series.row.provenance = of_word<Provenance>(text(5));
            series.row.scenario = text(6);
            by_text_[series.row.series_text()].push_back(std::move(series));
        }
    }

    struct Name {
        std::string suite, machine, series, metric;
        std::vector<std::string> sessions;  ///< in which it was measured, the newest first
    };

    RowId identity(const Name& name) {
        const std::array of_suite = {name.suite, name.machine, name.series, name.metric};
        if (const auto found = by_text_.find(name.series); found != by_text_.end()) {
            std::optional<RowId> of_session;  // whose samples of that night all failed, perhaps
            for (const std::string& session : name.sessions) {
                const auto candidates = measured_in(found->second, session);
                if (const auto row = with_metric(candidates, name.metric))
                    return known_.emplace(of_suite, *row), *row;
                if (!of_session && !candidates.empty()) of_session = candidates.front().series->row;
            }
            const auto anywhere = newest_first(found->second, name.machine);
            auto same_metric = with_metric(anywhere, name.metric);
            if (const auto known = known_.find(of_suite); known != known_.end())
                same_metric = known->second;
            if (same_metric && !of_session) return *same_metric;
            if (of_session || !anywhere.empty()) {
                RowId row = of_session ? *of_session : anywhere.front().series->row;
                if (same_metric) {
                    row.metric = same_metric->metric;
                    row.labels = same_metric->labels;
                } else {
                    take_metric_apart(name.metric, row);
                }
                return row;
            }
        }
        RowId row;
        take_series_apart(name.series, row);
        take_metric_apart(name.metric, row);
        return row;
    }

  private:
    struct Candidate {
        std::string order, session;
        const OldSeries* series;
    };

    /// In the order in which they were begun, which is that of the night's rows.
    std::vector<Candidate> measured_in(const std::vector<OldSeries>& all,
                                       const std::string& session) {
        std::vector<Candidate> found;
        for (const OldSeries& series : all) {
            in_session_.reset();
            in_session_.bind(1, series.id);
            in_session_.bind(2, session);
            in_session_.executeStep();
            if (const auto started = in_session_.getColumn(0); !started.isNull())
                found.push_back({started.getString(), session, &series});
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.order < b.order; });
        return found;
    }

    /// Those of the machine before all others.
    std::vector<Candidate> newest_first(const std::vector<OldSeries>& all,
                                        const std::string& machine) {
        std::vector<Candidate> found;
        for (const OldSeries& series : all) {
            newest_.reset();
            newest_.bind(1, series.id);
            newest_.bind(2, machine);
            if (newest_.executeStep())
                found.push_back(
                    {newest_.getColumn(0).getString(), newest_.getColumn(1).getString(), &series});
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.order > b.order; });
        return found;
    }

    /// The first that has such a metric; of the empty metric the first.
    std::optional<RowId> with_metric(const std::vector<Candidate>& candidates,
                                     const std::string& metric) {
        for (const Candidate& candidate : candidates) {
            RowId row = candidate.series->row;
            if (metric.empty()) return row;
            const auto& metrics = metrics_of(candidate);
            const auto found = metrics.find(metric);
            if (found == metrics.end()) continue;
            row.metric = found->second.first;
            row.labels = found->second.second;
            return row;
        }
        return std::nullopt;
    }

    using Metrics = std::map<std::string, std::pair<std::string, Labels>>;  // by their texts

    const Metrics& metrics_of(const Candidate& candidate) {
        const auto [at, is_new] =
            metrics_of_.try_emplace({candidate.series->id, candidate.session});
        if (!is_new) return at->second;
        metrics_.reset();
        metrics_.bind(1, candidate.series->id);
        metrics_.bind(2, candidate.session);
        while (metrics_.executeStep()) {
            std::string name = metrics_.getColumn(0).getString();
            Labels labels = case_from_text(metrics_.getColumn(1).getString());
            std::string text = metric_text(name, labels);
            at->second.emplace(std::move(text), std::pair(std::move(name), std::move(labels)));
        }
        return at->second;
    }

    SQLite::Statement in_session_, newest_, metrics_;
    std::map<std::string, std::vector<OldSeries>> by_text_;
    std::map<std::array<std::string, 4>, RowId> known_;  // suite, machine, texts
    std::map<std::pair<std::string, std::string>, Metrics> metrics_of_;
};

/// The newest nights first, those without samples last: they follow the others.
void fill_nights(SQLite::Database& sql, OldNames& names) {
    SQLite::Statement rows(
        sql,
        "SELECT old.night, old.series, old.metric, old.median, old.evidence, night.session, "
        "night.suite, night.machine FROM temp.old_night_row AS old JOIN night ON night.id = "
        "old.night ORDER BY night.session IS NULL, night.started DESC");
    SQLite::Statement insert(
        sql, "INSERT INTO night_row (night, gate_row, median, evidence) VALUES (?, ?, ?, ?)");
    GateRows gate_rows(sql);
    while (rows.executeStep()) {
        const auto text = [&](int column) { return rows.getColumn(column).getString(); };
        OldNames::Name name{text(6), text(7), text(1), text(2), {}};
        if (!rows.getColumn(5).isNull()) name.sessions = {text(5)};
        insert.bind(1, text(0));
        insert.bind(2, gate_rows.put(names.identity(name)));
        bind_optional(insert, 3, optional_real(rows.getColumn(3)));
        insert.bind(4, text(4));
        insert.exec();
        insert.reset();
    }
}

void fill_regressions(SQLite::Database& sql, OldNames& names) {
    SQLite::Statement rows(sql,
                           "SELECT id, suite, machine, series, metric, state, opened, changed FROM "
                           "temp.old_regression");
    SQLite::Statement sessions(
        sql,
        "SELECT night.session FROM temp.old_regression_step AS step JOIN night ON night.id = "
        "step.night WHERE step.regression = ? AND night.session IS NOT NULL ORDER BY step.ordinal "
        "DESC");
    SQLite::Statement insert(
        sql,
        "INSERT INTO regression (id, suite, machine, gate_row, state, opened, changed) VALUES (?, "
        "?, ?, ?, ?, ?, ?)");
    GateRows gate_rows(sql);
    while (rows.executeStep()) {
        const auto text = [&](int column) { return text_or_empty(rows.getColumn(column)); };
        OldNames::Name name{text(1), text(2), text(3), text(4), {}};
        sessions.bind(1, text(0));
        while (sessions.executeStep()) name.sessions.push_back(sessions.getColumn(0).getString());
        sessions.reset();
        insert.bind(1, text(0));
        insert.bind(2, text(1));
        insert.bind(3, text(2));
        insert.bind(4, gate_rows.put(names.identity(name)));
        bind_text_or_null(insert, 5, text(5));
        insert.bind(6, text(6));
        insert.bind(7, text(7));
        insert.exec();
        insert.reset();
    }
    sql.exec(
        "INSERT INTO regression_step (regression, ordinal, at, night, state, why) SELECT "
        "regression, ordinal, at, night, state, why FROM temp.old_regression_step");
}

void fill_levels(SQLite::Database& sql, OldNames& names) {
    SQLite::Statement rows(
        sql,
        "SELECT old.id, old.baseline, old.series, old.metric, old.session, old.at, old.why, "
        "session.machine FROM temp.old_accepted_level AS old JOIN session ON session.id = "
        "old.session");
    SQLite::Statement insert(
        sql,
        "INSERT INTO accepted_level (id, baseline, gate_row, session, at, why) VALUES (?, ?, ?, "
        "?, ?, ?)");
    GateRows gate_rows(sql);
    while (rows.executeStep()) {
        const auto text = [&](int column) { return rows.getColumn(column).getString(); };
        insert.bind(1, text(0));
        insert.bind(2, text(1));
        if (text(2).empty())
            insert.bind(3);
        else
            insert.bind(
                3, gate_rows.put(names.identity({text(1), text(7), text(2), text(3), {text(4)}})));
        insert.bind(4, text(4));
        insert.bind(5, text(5));
        insert.bind(6, text(6));
        insert.exec();
        insert.reset();
    }
}

}  // namespace

void identify_gate_rows(SQLite::Database& sql) {
    {
        OldNames names(sql);
        fill_nights(sql, names);
        fill_regressions(sql, names);
        fill_levels(sql, names);
    }
    for (const char* table :
         {"old_night_row", "old_regression", "old_regression_step", "old_accepted_level"})
        sql.exec(std::string("DROP TABLE temp.") + table);
}

}  // namespace assay::store
