#include "suite/gate/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "suite/base/error.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/kept_programs.hpp"
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
            fmt::format("there is no finished night of '{0}' to accept; `assay nightly "
                        "SUITE.toml` with name = \"{0}\" makes one",
                        acceptance.name));
    store::NightRecord by_hand;  // a session of `assay run` is as good a level
    by_hand.session = session;
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

/// Series of which no sample is ok.
std::vector<RowId> without_values(const std::vector<store::Sample>& samples) {
    std::map<RowId, bool> is_ok;
    for (const store::Sample& sample : samples)
        is_ok[series_of(sample.spec)] |= sample.status == "ok";
    std::vector<RowId> rows;
    for (const auto& [row, ok] : is_ok)
        if (!ok) rows.push_back(row);
    return rows;
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

/// Open regressions of the rows become accepted; all of the suite's when `rows` is empty.
std::vector<RowId> settle(store::Nights& nights, const Acceptance& acceptance,
                          const store::NightRecord& night, const std::vector<RowId>& rows) {
    std::vector<RowId> settled;
    for (const store::RegressionRecord& record :
         nights.regressions(night.suite.empty() ? acceptance.name : night.suite, night.machine)) {
        const auto state = parse_state(record.state);
        if (state != State::candidate && state != State::confirmed) continue;
        if (!rows.empty() && std::find(rows.begin(), rows.end(), record.row) == rows.end())
            continue;
        nights.move(record.id, to_string(State::accepted),
                    acceptance.why.empty() ? "accepted as the new level" : acceptance.why);
        settled.push_back(record.row);
    }
    return settled;
}

}  // namespace

std::optional<BaselineLevel> baseline_level(const store::Store& store, const store::Nights& nights,
                                            const std::string& name) {
    std::optional<BaselineLevel> level;
    for (const store::AcceptedLevel& accepted : nights.levels(name)) {
        if (!accepted.row)
            level = BaselineLevel{accepted.session, accepted.since, {}};
        else if (level)
            level->rows[*accepted.row] = accepted;
    }
    if (level) return level;
    for (const store::Baseline& baseline : store.baselines())
        if (baseline.name == name)
            if (const auto session = store.session(baseline.session))
                return BaselineLevel{session->id, session->started, {}};
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
            fmt::format("there is no baseline '{}', nor any other; `assay baseline accept SUITE` "
                        "makes one of the suite's newest night",
                        name));
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

Accepted accept_level(store::Store& store, store::Nights& nights, const Acceptance& acceptance) {
    const store::NightRecord night = night_of(store, nights, acceptance);
    const std::vector<store::Sample> samples = store.samples(night.session);
    refuse_mixed_builds(store, night.session, samples);
    Accepted accepted;
    accepted.session = night.session;
    accepted.of_night = !night.id.empty();
    accepted.empty = without_values(samples);
    if (!acceptance.series.empty()) {
        if (!baseline_level(store, nights, acceptance.name))
            throw UserError(fmt::format(
                "'{0}' has no baseline yet: accept everything first, `assay baseline accept {0}`",
                acceptance.name));
        accepted.rows = rows_like(nights, night, acceptance.series);
        if (accepted.rows.empty())
            throw UserError(fmt::format(
                "no row of that night is like '{}'; give the series as the report prints it, or a "
                "pattern with * and ?",
                acceptance.series));
    } else {
        store.set_baseline(acceptance.name, night.session);
        nights.accept({acceptance.name, std::nullopt, night.session, "", acceptance.why, ""});
    }
    for (const RowId& row : accepted.rows)
        nights.accept({acceptance.name, row, night.session, "", acceptance.why, ""});
    accepted.settled = settle(nights, acceptance, night, accepted.rows);
    const KeptPrograms programs(store.path());
    const auto program = programs.executable(night.program);
    accepted.program_kept = !program.empty() && programs.damage(program).empty();
    return accepted;
}

}  // namespace assay::gate
