#include "suite/gate/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/confirmation.hpp"
#include "suite/gate/kept_programs.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/row_past.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/report/text/row_name.hpp"

namespace assay::gate {
namespace {

/// The newest finished night of the suite, or that of the session.
store::NightRecord night_of(const store::Store& store, const store::Nights& nights,
                            const Acceptance& acceptance) {
    const std::string session =
        acceptance.session.empty() ? "" : store.resolve_session(acceptance.session);
    for (store::NightRecord& night : nights.nights(session.empty() ? acceptance.name : "")) {
        const bool wanted = session.empty() ? !night.finished.empty() : night.session == session;
        if (wanted && !night.session.empty()) return std::move(night);
    }
    if (session.empty())
        throw UserError(
            fmt::format("there is no finished night of '{0}' to accept; {1} with name = \"{0}\" "
                        "makes one",
                        acceptance.name, suggested("nightly SUITE.toml")));
    store::NightRecord by_hand;  // a session of `assay run` is as good a level
    by_hand.session = session;
    if (const auto of = store.session(session)) {
        by_hand.started = of->started;
        by_hand.machine = of->machine;
    }
    return by_hand;
}

/// A level that two builds made would be nobody's.
void refuse_mixed_builds(const store::Store& store, const std::string& session,
                         const std::vector<store::Sample>& samples) {
    const auto of = store.session(session);
    std::optional<std::string> mixed;
    if (of && of->suspects.is_object() && of->suspects.contains(store::mixed_mark))
        mixed = of->suspects.value(std::string(store::mixed_mark), "");
    if (!mixed) mixed = mixed_builds(samples);
    if (mixed)
        throw UserError(
            fmt::format("session {:.8} cannot be a level, since its samples are of two builds: {}; "
                        "run the night again, or name another session with --session",
                        session, *mixed));
}

/// What a session has of each row.
class SessionRows {
  public:
    /// `left_out`: experiments that its night left out although the level has rows of them.
    SessionRows(const compare::Arm& arm, const std::vector<store::Sample>& samples,
                std::set<std::string> left_out)
        : left_out_(std::move(left_out)) {
        std::map<RowId, bool> is_ok;
        for (const store::Sample& sample : samples)
            is_ok[series_of(sample.spec)] |= sample.status == "ok";
        for (const auto& [series, ok] : is_ok)
            if (!ok) empty_.insert(series);
        // A part of a program may have failed alone.
        for (const compare::Series& series : arm.series)
            (series.points.empty() ? empty_ : valued_).insert(series.name);
    }

    bool has_values(const RowId& row) const { return valued_.contains(row); }
    /// It was to be run there, and gave no value.
    bool is_empty(const RowId& row) const {
        return !has_values(row) &&
               (empty_.contains(row) || empty_.contains(row.series()) || is_left_out(row));
    }
    bool is_left_out(const RowId& row) const { return left_out_.contains(row.experiment); }
    std::vector<RowId> empty() const { return {empty_.begin(), empty_.end()}; }

  private:
    std::set<std::string> left_out_;
    std::set<RowId> valued_, empty_;
};

std::set<std::string> left_out_by(const store::NightRecord& night, const store::Nights& nights) {
    if (night.id.empty()) return {};
    return nights.report(night.id).value("left_out", std::set<std::string>());
}

/// Rows that the level of now has, and that this session was to have and has not.
std::vector<RowId> lost_rows(const compare::Arm& level, const SessionRows& has) {
    std::vector<RowId> lost;
    for (const compare::Series& series : level.series)
        if (!series.points.empty() && has.is_empty(series.name)) lost.push_back(series.name);
    return lost;
}

/// Failures must not be accepted unaware: `lost`, and all of a night that ended in error.
void refuse_failed(const store::NightRecord& night, const SessionRows& has,
                   const std::vector<RowId>& lost) {
    const bool in_error = night.verdict == "error";
    if (!in_error && lost.empty()) return;
    const std::vector<RowId> without = lost.empty() ? has.empty() : lost;
    throw UserError(fmt::format(
        "{} {:.8}{}{}; what has no values in a level is judged by no night. Mend it and give "
        "another night, name an earlier one with --session, or accept this one all the same with "
        "--even-if-failed",
        in_error ? "the night of session" : "session", night.session,
        in_error ? " ended in error" : "",
        without.empty() ? std::string()
                        : fmt::format("{} no values of {}", in_error ? " and has" : " has",
                                      few_names(without))));
}

std::vector<RowId> rows_like(const store::Nights& nights, const store::NightRecord& night,
                             const std::string& pattern) {
    std::vector<RowId> rows;
    for (const store::RowOfNight& of : nights.rows(night.suite, night.machine)) {
        if (of.night == night.id && pattern_matches(pattern, report::row_spellings(of.row.id)))
            rows.push_back(of.row.id);
    }
    return rows;
}

/// The session of the night that saw it first; empty: not known.
std::string first_seen(const store::RegressionRecord& record, const store::Nights& nights) {
    if (record.steps.empty()) return {};
    for (const store::NightRecord& night : nights.nights(record.suite))
        if (night.id == record.steps.front().night) return night.session;
    return {};
}

/// Open regressions of the accepted rows become accepted, all of the suite's where everything is.
/// Nothing was seen of a row without values: its regression stays as it is. So does one that the
/// session is older than, since the level does not hold what was seen later. What the night has no
/// more, since it left the suite, ends; another session says nothing about what it lacks.
void settle(const std::map<std::string, long>& places, store::Nights& nights,
            const Acceptance& acceptance, const store::NightRecord& night, const SessionRows& has,
            Accepted& accepted) {
    const std::vector<RowId>& rows = accepted.rows;
    const auto is_older = [&](const std::string& session, const std::string& other) {
        const auto one = places.find(session), two = places.find(other);
        return one != places.end() && two != places.end() && one->second < two->second;
    };
    for (const store::RegressionRecord& record :
         nights.regressions(night.suite.empty() ? acceptance.name : night.suite, night.machine)) {
        if (!is_open(state_of(record))) continue;
        if (!rows.empty() && std::find(rows.begin(), rows.end(), record.row) == rows.end())
            continue;
        const bool is_gone = !has.has_values(record.row) && !has.is_empty(record.row);
        if (has.is_empty(record.row) || (is_gone && night.id.empty())) {
            accepted.open.push_back(record.row);
            continue;
        }
        if (!is_gone && is_older(night.session, first_seen(record, nights))) {
            accepted.later.push_back(record.row);
            continue;
        }
        const std::string why = is_gone                  ? "not in the accepted night any more"
                                : acceptance.why.empty() ? "accepted as the new level"
                                                         : acceptance.why;
        nights.move(record.id, to_string(State::accepted), why);
        (is_gone ? accepted.gone : accepted.settled).push_back(record.row);
    }
}

}  // namespace

std::optional<BaselineLevel> baseline_level(const store::Store& store, const store::Nights& nights,
                                            const std::string& name) {
    std::optional<BaselineLevel> level;
    for (const store::AcceptedLevel& accepted : nights.levels(name)) {
        if (!accepted.row)
            level = BaselineLevel{accepted.session};
        else if (level)
            level->rows[*accepted.row] = accepted;
    }
    if (level) return level;
    for (const store::Baseline& baseline : store.baselines())
        if (baseline.name == name)
            if (const auto session = store.session(baseline.session))
                return BaselineLevel{session->id};
    return std::nullopt;
}

std::vector<std::string> baseline_names(const store::Store& store, const store::Nights& nights) {
    std::set<std::string> names;
    for (const store::AcceptedLevel& level : nights.levels("")) names.insert(level.baseline);
    for (const store::Baseline& baseline : store.baselines()) names.insert(baseline.name);
    return {names.begin(), names.end()};
}

UserError unknown_baseline(const store::Store& store, const store::Nights& nights,
                           const std::string& name) {
    const std::vector<std::string> known = baseline_names(store, nights);
    if (known.empty())
        return UserError(
            fmt::format("there is no baseline '{}', nor any other; {} makes one of the suite's "
                        "newest night",
                        name, suggested("baseline accept SUITE")));
    const auto nearest = nearest_id(name, known);
    return UserError(fmt::format("there is no baseline '{}'{}; known: {}", name,
                                 nearest ? fmt::format("; did you mean '{}'?", *nearest) : "",
                                 fmt::join(known, ", ")));
}

compare::Arm baseline_arm(const Registry& registry, const store::Store& store,
                          const BaselineLevel& level) {
    compare::Arm arm = compare::arm_of_sessions(registry, store, {level.session});
    std::map<std::string, compare::Arm> later;
    for (const auto& [row, accepted] : level.rows) {
        auto of = later.find(accepted.session);
        if (of == later.end())
            of = later
                     .emplace(accepted.session,
                              compare::arm_of_sessions(registry, store, {accepted.session}))
                     .first;
        const auto is_row = [&wanted = row](const compare::Series& series) {
            return series.name == wanted;
        };
        const auto& from = of->second.series;
        const auto found = std::find_if(from.begin(), from.end(), is_row);
        if (found == from.end()) continue;
        const auto old = std::find_if(arm.series.begin(), arm.series.end(), is_row);
        if (old == arm.series.end())
            arm.series.push_back(*found);
        else
            *old = *found;
    }
    return arm;
}

Accepted accept_level(const Registry& registry, store::Store& store, store::Nights& nights,
                      const Acceptance& acceptance) {
    const store::NightRecord night = night_of(store, nights, acceptance);
    const std::vector<store::Sample> samples = store.samples(night.session);
    refuse_mixed_builds(store, night.session, samples);
    const SessionRows has(compare::arm_of_sessions(registry, store, {night.session}), samples,
                          left_out_by(night, nights));
    Accepted accepted;
    accepted.session = night.session;
    accepted.started = night.started;
    accepted.of_night = !night.id.empty();
    accepted.verdict = night.verdict;
    if (!acceptance.series.empty()) {
        if (!baseline_level(store, nights, acceptance.name))
            throw UserError(fmt::format("'{}' has no baseline yet: accept everything first, {}",
                                        acceptance.name, accept_command(acceptance.name)));
        const std::vector<RowId> named = rows_like(nights, night, acceptance.series);
        for (const RowId& row : named)
            (has.has_values(row) ? accepted.rows : accepted.empty).push_back(row);
        if (named.empty())
            throw UserError(fmt::format(
                "no row of that night is like '{}'; give the series as the report prints it, or a "
                "pattern with * and ?",
                acceptance.series));
        if (accepted.rows.empty())
            throw UserError(fmt::format(
                "session {:.8} has no values of {}: it cannot be a level; mend that and give "
                "another night, or name an earlier one with --session",
                night.session, few_names(named)));
    } else {
        std::vector<RowId> lost;
        if (const auto level = baseline_level(store, nights, acceptance.name))
            lost = lost_rows(baseline_arm(registry, store, *level), has);
        if (!acceptance.even_if_failed) refuse_failed(night, has, lost);
        for (const RowId& row : rows_like(nights, night, "*"))
            if (has.has_values(row)) ++accepted.with_values;
        accepted.empty = has.empty();
        for (const RowId& row : lost)
            if (has.is_left_out(row)) accepted.empty.push_back(row);
        store.set_baseline(acceptance.name, night.session);
        nights.accept({acceptance.name, std::nullopt, night.session, "", acceptance.why, ""});
    }
    for (const RowId& row : accepted.rows)
        nights.accept({acceptance.name, row, night.session, "", acceptance.why, ""});
    settle(store.places(), nights, acceptance, night, has, accepted);
    const KeptPrograms programs(store.path());
    const auto program = programs.executable(night.program);
    accepted.program_kept = !program.empty() && programs.damage(program).empty();
    return accepted;
}

}  // namespace assay::gate
