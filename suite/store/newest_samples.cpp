// Which samples of an experiment reports and claim checks see. Series by series: the cost grows
// with the series of the experiment and what is returned, not with all samples ever stored.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

/// A session's place among all, from the newest (0) on.
using Age = std::size_t;
constexpr Age never = std::numeric_limits<Age>::max();

/// Where calibrations and data replace each other.
struct Scope {
    std::string profile, provenance, scenario, hardware;
    auto operator<=>(const Scope&) const = default;
};
struct State {
    std::string calibration, data;  ///< hashes; empty: none, or not known
};
/// Calibrations and data apart, what was asked for.
using Question = std::tuple<Scope, std::string, std::string>;  // axes, variant

struct SeriesAge {
    std::string id;
    Question question;
    State state;
    Age age = never;  ///< of the newest session with an ok sample of it
    const Scope& scope() const { return std::get<Scope>(question); }
};

/// Ids from the newest session on. What a night ran again (rerun_mark) is left out.
std::vector<std::string> sessions_by_age(SQLite::Database& sql) {
    std::vector<std::string> ids = recorded_order(sql);
    std::reverse(ids.begin(), ids.end());
    std::set<std::string> reruns;
    SQLite::Statement rows(
        sql, fmt::format("SELECT id FROM session WHERE json_extract(suspects, '$.{}') IS NOT NULL",
                         rerun_mark));
    while (rows.executeStep()) reruns.insert(rows.getColumn(0).getString());
    std::erase_if(ids, [&](const std::string& id) { return reruns.contains(id); });
    return ids;
}

/// Finds the sessions of a series, above all the newest, through the index sample_series alone.
class NewestSession {
  public:
    explicit NewestSession(SQLite::Database& sql)
        : sessions_(sessions_by_age(sql)),
          has_(sql,
               "SELECT 1 FROM sample WHERE series = ? AND status = 'ok' AND session = ? LIMIT 1"),
          next_(sql, session_after_sql) {
        for (Age age = 0; age < sessions_.size(); ++age) ages_.emplace(sessions_[age], age);
    }

    const std::string& session(Age age) const { return sessions_[age]; }

    Age of(const std::string& series) {
        // Most series are in one of the last sessions; of the others all sessions are looked at.
        constexpr Age recent = 16;
        for (Age age = 0; age < std::min(recent, sessions_.size()); ++age)
            if (finds(has_, series, sessions_[age])) return age;
        const std::set<Age> all = all_of(series);
        return all.empty() ? never : *all.begin();
    }

    /// Of all sessions with an ok sample of the series.
    std::set<Age> all_of(const std::string& series) {
        std::set<Age> all;
        for (std::string session; finds(next_, series, session);) {
            session = next_.getColumn(0).getString();
            if (const auto age = ages_.find(session); age != ages_.end()) all.insert(age->second);
        }
        return all;
    }

  private:
    static bool finds(SQLite::Statement& statement, const std::string& series,
                      const std::string& session) {
        statement.reset();
        statement.bind(1, series);
        statement.bind(2, session);
        return statement.executeStep();
    }

    std::vector<std::string> sessions_;
    std::unordered_map<std::string, Age> ages_;
    SQLite::Statement has_, next_;
};

std::vector<SeriesAge> series_with_age(SQLite::Database& sql, NewestSession& newest,
                                       std::string_view experiment) {
    SQLite::Statement rows(sql,
                           "SELECT id, profile, provenance, scenario, hardware, axes, variant, "
                           "calibration, data FROM series WHERE experiment = ?");
    bind_text(rows, 1, experiment);
    std::vector<SeriesAge> all;
    while (rows.executeStep()) {
        const auto text = [&](int column) { return rows.getColumn(column).getString(); };
        SeriesAge series{
            text(0), {{text(1), text(2), text(3), text(4)}, text(5), text(6)}, {text(7), text(8)}};
        series.age = newest.of(series.id);
        if (series.age != never) all.push_back(std::move(series));
    }
    return all;
}

/// Finds which series newer ones have replaced, by one of the files that decide: `hash` is that of
/// their calibration or of their data. What answered one question are versions of one file, and the
/// version that was used last in the scope counts, for all questions that the others answered.
/// Where one session used both they are two files, of which each case has its own.
class Versions {
  public:
    Versions(const std::vector<SeriesAge>& all, std::string State::*hash, NewestSession& newest)
        : hash_(hash) {
        std::map<File, std::vector<std::string>> users;  // series
        std::map<Question, std::set<std::string>> hashes;
        for (const SeriesAge& series : all) {
            Ages& ages = ages_[series.question];
            Age& last = of(series).empty() ? ages.without : ages.with;
            last = std::min(last, series.age);
            if (of(series).empty()) continue;
            users[{series.scope(), of(series)}].push_back(series.id);
            hashes[series.question].insert(of(series));
        }
        std::map<File, std::set<Age>> sessions;
        const auto sessions_of = [&](const File& file) -> const std::set<Age>& {
            const auto [at, is_new] = sessions.try_emplace(file);
            if (is_new)
                for (const std::string& series : users.at(file))
                    at->second.merge(newest.all_of(series));
            return at->second;
        };
        for (const auto& [one, other] : pairs(hashes)) {
            const std::set<Age>& of_one = sessions_of(one);
            const std::set<Age>& of_other = sessions_of(other);
            if (std::none_of(of_one.begin(), of_one.end(),
                             [&](Age age) { return of_other.contains(age); }))
                outdated_.insert(*of_one.begin() < *of_other.begin() ? other : one);
        }
    }

    bool outdated(const SeriesAge& series) const {
        // No hash is no version: some cases read no file, and programs before there were hashes
        // left it empty for all. It says something about its own question alone.
        const Ages& ages = ages_.at(series.question);
        if (of(series).empty()) return ages.with < ages.without;
        return ages.without < ages.with || outdated_.contains({series.scope(), of(series)});
    }

  private:
    using File = std::pair<Scope, std::string>;
    struct Ages {
        Age with = never, without = never;
    };

    const std::string& of(const SeriesAge& series) const { return series.state.*hash_; }

    /// Each once, though many questions may have them.
    static std::set<std::pair<File, File>> pairs(
        const std::map<Question, std::set<std::string>>& hashes) {
        std::set<std::pair<File, File>> all;
        for (const auto& [question, versions] : hashes)
            for (auto one = versions.begin(); one != versions.end(); ++one)
                for (auto other = std::next(one); other != versions.end(); ++other) {
                    const Scope& scope = std::get<Scope>(question);
                    all.insert({{scope, *one}, {scope, *other}});
                }
        return all;
    }

    std::string State::*hash_;
    std::map<Question, Ages> ages_;
    std::set<File> outdated_;
};

/// Takes away the series whose calibration or data newer ones have replaced.
std::vector<SeriesAge> without_outdated(const std::vector<SeriesAge>& all, NewestSession& newest) {
    const Versions calibrations(all, &State::calibration, newest), data(all, &State::data, newest);
    std::vector<SeriesAge> kept;
    std::copy_if(all.begin(), all.end(), std::back_inserter(kept), [&](const SeriesAge& series) {
        return !calibrations.outdated(series) && !data.outdated(series);
    });
    return kept;
}

/// As JSON: the newest series of each question, each with its newest session.
std::string chosen(const std::vector<SeriesAge>& all, const NewestSession& newest) {
    std::map<Question, Age> ages;
    for (const SeriesAge& series : all) {
        Age& age = ages.try_emplace(series.question, never).first->second;
        age = std::min(age, series.age);
    }
    nlohmann::json pairs = nlohmann::json::array();
    for (const SeriesAge& series : all)
        if (series.age == ages.at(series.question))
            pairs.push_back({series.id, newest.session(series.age)});
    return json_text(pairs);
}

constexpr const char* chosen_samples =
    "SELECT sample.id FROM json_each(?) AS chosen CROSS JOIN sample "
    "ON sample.series = json_extract(chosen.value, '$[0]') AND sample.status = 'ok' "
    "AND sample.session = json_extract(chosen.value, '$[1]')";

std::vector<Sample> newest_samples_in(SQLite::Database& sql, std::string_view experiment,
                                      bool with_outdated) {
    NewestSession newest(sql);
    std::vector<SeriesAge> all = series_with_age(sql, newest, experiment);
    if (!with_outdated) all = without_outdated(all, newest);
    return read_samples(sql, chosen_samples, chosen(all, newest),
                        "profile, provenance, scenario, axes, variant, hardware, calibration, "
                        "data, seed, round, sample.id");
}

/// Of each calibration that has any: the claims and sessions that it was fitted from.
std::map<std::string, std::vector<std::string>> fits(SQLite::Database& sql) {
    SQLite::Statement rows(sql,
                           "SELECT hash, fitted_from FROM calibration WHERE "
                           "json_type(fitted_from) = 'array' AND fitted_from <> '[]'");
    std::map<std::string, std::vector<std::string>> names;
    while (rows.executeStep()) {
        const auto list = nlohmann::json::parse(rows.getColumn(1).getString());
        names.emplace(rows.getColumn(0).getString(), list.get<std::vector<std::string>>());
    }
    return names;
}

/// By session.
std::map<std::string, std::string> hosts(SQLite::Database& sql) {
    SQLite::Statement rows(sql, fmt::format("SELECT id, {} FROM session", host_of_session));
    std::map<std::string, std::string> names;
    while (rows.executeStep())
        names.emplace(rows.getColumn(0).getString(), text_or_empty(rows.getColumn(1)));
    return names;
}

// CROSS JOIN keeps SQLite from starting at the series, which may have samples in all sessions.
constexpr const char* tried =
    "SELECT 1 FROM series CROSS JOIN sample ON sample.session = ? AND sample.series = series.id "
    "WHERE series.experiment = ? LIMIT 1";
constexpr const char* unsuccessful =
    "SELECT sample.id FROM sample CROSS JOIN series ON series.id = sample.series AND "
    "series.experiment = json_extract(?1, '$[1]') WHERE sample.session = json_extract(?1, '$[0]') "
    "AND sample.status NOT IN ('ok', 'running')";

/// The newest session that tried the experiment; empty: none.
std::string newest_try(SQLite::Database& sql, std::string_view experiment) {
    std::vector<std::string> sessions = recorded_order(sql);
    SQLite::Statement find(sql, tried);
    for (; !sessions.empty(); sessions.pop_back()) {
        find.reset();
        find.bind(1, sessions.back());
        bind_text(find, 2, experiment);
        if (find.executeStep()) return sessions.back();
    }
    return {};
}

}  // namespace

std::vector<Sample> Store::newest_samples(std::string_view experiment) const {
    return impl_->database.read("read the newest samples", [&](SQLite::Database& sql) {
        return newest_samples_in(sql, experiment, true);
    });
}

std::vector<Observation> Store::observations(std::string_view experiment) const {
    return impl_->database.read("read the newest observations", [&](SQLite::Database& sql) {
        const std::map<std::string, std::string> host_of = hosts(sql);
        const std::map<std::string, std::vector<std::string>> fitted_from = fits(sql);
        std::vector<Observation> all;
        for (const Sample& sample : newest_samples_in(sql, experiment, false)) {
            const auto host = host_of.find(sample.session);
            const auto fit = fitted_from.find(sample.origin.calibration);
            for (const MetricValue& metric : sample.metrics)
                all.push_back(
                    {sample.spec.experiment, sample.spec.variant, sample.spec.axes,
                     sample.spec.profile, sample.spec.provenance, metric.name, metric.labels,
                     metric.value, sample.spec.seed, sample.spec.scenario, sample.id, sample.origin,
                     host == host_of.end() ? "" : host->second,
                     fit == fitted_from.end() ? std::vector<std::string>() : fit->second});
        }
        return all;
    });
}

std::vector<Sample> Store::unsuccessful_samples(std::string_view experiment) const {
    return impl_->database.read("read what did not end well", [&](SQLite::Database& sql) {
        const auto which = nlohmann::json::array({newest_try(sql, experiment), experiment});
        return read_samples(sql, unsuccessful, json_text(which),
                            "sample.started, seed, round, sample.id");
    });
}

}  // namespace assay::store
