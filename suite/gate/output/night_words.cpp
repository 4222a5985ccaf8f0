#include "suite/gate/output/night_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "suite/base/encoding.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/compare/matching.hpp"
#include "suite/gate/night_verdict.hpp"

namespace assay::gate {
namespace {

std::string percent(double share) {
    const double value = std::abs(share) * 100;
    return value < 9.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

/// "7.1 % slower [6.2 %, 8.0 %]" would say the same twice; reports give the ratio's interval.
std::string comparison_sentence(const compare::Row& row) {
    return fmt::format("{}: ratio {}, margin {}, n {} and {}; {}", change_words(row),
                       ratio_words(row), percent(row.margin), row.n_a, row.n_b, row.reason);
}

std::string count(std::size_t n, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string short_id(const std::string& id) { return id.substr(0, 8); }

/// ": cannot open the device"; empty: nothing is known.
std::string how_it_failed(const NightRow& row) {
    const compare::Series* tonight = row.against_baseline.b;
    if (tonight != nullptr && !tonight->errors.empty()) return ": " + tonight->errors.front();
    return row.not_run.empty() ? "" : ": " + row.not_run;
}

/// "data differs from the baseline's: 1a there, 2b tonight; …"
std::string differing_words(const compare::Row& row) {
    std::vector<std::string> parts;
    for (const compare::Difference& one : compare::differences(*row.a, *row.b, {}))
        parts.push_back(fmt::format("{} differs: {} in the baseline, {} tonight", one.what(),
                                    one.in_a, one.in_b));
    return fmt::format("{}", fmt::join(parts, "; "));
}

/// Of a row that is not compared; empty: what compare() says will do.
std::string reason_words(const Night& night, const NightRow& of, const std::string& name) {
    using compare::Reason;
    using compare::RowVerdict;
    const compare::Row& row = of.against_baseline;
    const bool failed_tonight = row.b != nullptr && row.b->points.empty() && row.b->failed > 0;
    switch (row.reason_code) {
        case Reason::only_in_a:
            if (row.a == nullptr) return "";
            if (!of.not_run.empty()) return "skipped tonight: " + of.not_run;
            if (std::count(night.left_out.begin(), night.left_out.end(), row.id.experiment) > 0)
                return "in the baseline, but its experiment was left out of this night";
            return "in the baseline, but not in this night";
        case Reason::only_in_b:
            if (failed_tonight) return "every sample failed" + how_it_failed(of);
            if (night.baseline_session.empty()) return "nothing was accepted yet to compare with";
            return "not in the baseline: not judged until " + accept_command(night, name);
        case Reason::all_failed:
            if (row.verdict == RowVerdict::failed)
                return "every sample failed tonight" + how_it_failed(of);
            if (row.verdict == RowVerdict::failed_before)
                return "failed when the level was accepted, and fails tonight" + how_it_failed(of) +
                       "; not judged until it works and is accepted anew: " +
                       accept_command(night, name);
            return "failed when the level was accepted, and works tonight: not judged until " +
                   accept_command(night, name) + " makes tonight its level";
        case Reason::all_excluded:
            if (is_without_level(row))
                return "only skipped or invalid samples when the level was accepted: not judged "
                       "until " +
                       accept_command(night, name);
            return "all samples of tonight were skipped or marked invalid";
        case Reason::context_differs:
            return differing_words(row);
        default:
            return "";
    }
}

double badness(const NightRow* row) { return slowdown(row->against_baseline).value_or(0); }

}  // namespace

std::string_view title(Heading heading) {
    switch (heading) {
        case Heading::regression:
            return "Confirmed regressions";
        case Heading::candidate:
            return "Candidates: slower tonight, a second night decides";
        case Heading::fixed:
            return "Fixed";
        case Heading::faster:
            return "Faster";
        case Heading::taken_back:
            return "Suspicious at first, taken back by the reruns";
        case Heading::muted:
            return "Muted: shown, never judged";
        case Heading::informational:
            return "Informational: two clusters of values, or no better direction";
        case Heading::undecided:
            return "Undecided";
        case Heading::not_compared:
            return "Not compared";
        case Heading::same:
            return "Same";
    }
    return "";
}

Heading heading(const NightRow& row) {
    using compare::RowVerdict;
    const compare::Row& against = row.against_baseline;
    if (is_regression(row)) return Heading::regression;
    if (is_warning(row)) return Heading::candidate;
    if (row.muted) return Heading::muted;
    if (row.step.to == State::fixed && row.step.from == State::confirmed) return Heading::fixed;
    if (standing(row) == Standing::informational) return Heading::informational;
    if (standing(row) == Standing::undecided) return Heading::undecided;
    if (row.candidate && row.evidence == Evidence::not_again) return Heading::taken_back;
    switch (against.verdict) {
        case RowVerdict::faster:
            return Heading::faster;
        case RowVerdict::same:
            return Heading::same;
        case RowVerdict::not_comparable:
        case RowVerdict::failed:
        case RowVerdict::failed_before:
            return Heading::not_compared;
        case RowVerdict::slower:
        case RowVerdict::ambiguous:
            break;
    }
    return Heading::undecided;
}

std::vector<std::vector<const NightRow*>> by_heading(const Night& night) {
    std::vector<std::vector<const NightRow*>> groups(heading_count);
    for (const NightRow& row : night.rows)
        groups[static_cast<std::size_t>(heading(row))].push_back(&row);
    for (auto& group : groups)
        std::stable_sort(group.begin(), group.end(), [](const NightRow* a, const NightRow* b) {
            return badness(a) > badness(b);
        });
    return groups;
}

report::RowNames names_of(const Night& night) {
    std::vector<RowId> ids;
    for (const NightRow& row : night.rows) ids.push_back(row.against_baseline.id);
    return report::RowNames(ids);
}

std::string accept_command(const std::string& baseline, const std::string& options) {
    return suggested("baseline accept " + shell_quoted(baseline) + options);
}

std::string accept_command(const Night& night, const std::string& row) {
    return accept_command(night.baseline, " --series " + shell_quoted(row));
}

void say_reasons(Night& night) {
    const report::RowNames names = names_of(night);
    for (NightRow& row : night.rows) {
        compare::Row& against = row.against_baseline;
        const std::string words = reason_words(night, row, names.of(against.id).text());
        if (!words.empty()) against.reason = words;
    }
}

std::string why_words(const NightRow& row) { return row.muted ? row.mute : row.step.why; }

std::string change_words(const compare::Row& row) {
    if (!std::isfinite(row.ratio)) return "no ratio";
    const auto slower = slowdown(row);
    if (!slower) return fmt::format("ratio {:.4g}", row.ratio);
    if (*slower == 1) return "equal";
    const bool time = row.better == Direction::lower;
    const bool worse = *slower > 1;
    // A change of a factor reads better as one.
    if (*slower >= 3 || *slower <= 1.0 / 3)
        return fmt::format("{:.1f} times {}", worse ? *slower : 1 / *slower,
                           worse ? "worse" : "better");
    const std::string size = percent(row.ratio - 1);
    return fmt::format("{} {}", size,
                       time ? (worse ? "slower" : "faster") : (worse ? "lower" : "higher"));
}

std::string ratio_words(const compare::Row& row) {
    if (!std::isfinite(row.ratio)) return "–";
    if (!std::isfinite(row.low) || !std::isfinite(row.high))
        return fmt::format("{:.4g}", row.ratio);
    return fmt::format("{:.4g} [{:.4g}, {:.4g}]", row.ratio, row.low, row.high);
}

std::vector<std::string> evidence(const NightRow& row) {
    const compare::Row& against = row.against_baseline;
    std::vector<std::string> sentences = {
        std::isfinite(against.ratio) ? "Against the baseline: " + comparison_sentence(against)
                                     : against.reason};
    if (row.history_change && row.history_threshold)
        sentences.push_back(fmt::format("History: changed by {}; its own changes stay below {}.",
                                        percent(*row.history_change),
                                        percent(*row.history_threshold)));
    if (row.rerun)
        sentences.push_back(fmt::format("Reruns, {}: {}",
                                        row.rerun_paired
                                            ? "old program against new in turns"
                                            : "the new program again against the baseline's values",
                                        comparison_sentence(*row.rerun)));
    if (row.relative_to_control > 0)
        sentences.push_back(
            fmt::format("In units of the control workload: {:.4g}.", row.relative_to_control));
    if (row.muted) sentences.push_back(row.mute + '.');
    if (!row.step.why.empty())
        sentences.push_back(
            fmt::format("{} → {}: {}.", row.step.from ? to_string(*row.step.from) : "nothing",
                        row.step.to ? to_string(*row.step.to) : "nothing", row.step.why));
    return sentences;
}

std::string machine_changes_words(const std::vector<MachineChange>& changes) {
    std::vector<std::string> words;
    for (const auto& [name, before, after] : changes)
        words.push_back(fmt::format("{} {} → {}", name, before, after));
    return fmt::format("{}", fmt::join(words, "; "));
}

std::string verdict_words(const Night& night) {
    const auto groups = by_heading(night);
    const auto size = [&](Heading of) { return groups[static_cast<std::size_t>(of)].size(); };
    const std::size_t confirmed = size(Heading::regression);
    const std::size_t compared = count_of(night, Standing::compared);
    std::string words;
    std::vector<std::string> parts;
    switch (night.verdict) {
        case NightVerdict::regression:
            if (!night.below_level.empty())
                parts.push_back(count(night.below_level.size(), "row", "rows") +
                                " below the level");
            if (confirmed > 0)
                parts.push_back(count(confirmed, "confirmed regression", "confirmed regressions"));
            else if (mean_beyond_margin(night))
                parts.push_back(fmt::format("Regression: all rows together are {} slower",
                                            percent(*night.geometric_mean - 1)));
            words = fmt::format("{}", fmt::join(parts, ", "));
            break;
        case NightVerdict::error:
            words = "Error: " + count(night.failures.size(), "part", "parts") +
                    " of the suite could not be run";
            break;
        case NightVerdict::ambiguous:
            words = compared > 0 ? "Ambiguous: most rows could not be decided"
                                 : "Ambiguous: no row could be judged";
            break;
        case NightVerdict::no_baseline:
            return fmt::format("No accepted baseline yet: {} measured, nothing compared",
                               count(night.rows.size(), "row", "rows"));
        case NightVerdict::clean:
            words = "Clean";
            break;
    }
    words += fmt::format("; {} of {} compared", compared, count(night.rows.size(), "row", "rows"));
    if (size(Heading::candidate) > 0)
        words += ", " + count(size(Heading::candidate), "candidate", "candidates");
    if (size(Heading::faster) > 0) words += fmt::format(", {} faster", size(Heading::faster));
    if (size(Heading::fixed) > 0) words += fmt::format(", {} fixed", size(Heading::fixed));
    const std::string rest = rest_words(night);
    return rest.empty() ? words : words + "; " + rest;
}

std::string rest_words(const Night& night) {
    std::vector<std::string> parts;
    for (const Standing of :
         {Standing::muted, Standing::undecided, Standing::not_compared, Standing::informational})
        if (const std::size_t n = count_of(night, of); n > 0)
            parts.push_back(fmt::format("{} {}", n, to_string(of)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::pair<std::string, std::string>> facts(const Night& night) {
    std::vector<std::pair<std::string, std::string>> all = {
        {"suite", night.suite},
        {"night", fmt::format("{}, number {}, {}", short_id(night.id), night.nights_before + 1,
                              night.started)},
        {"commit", night.commit.empty() ? "unknown" : night.commit},
        {"machine", night.host.empty() ? night.machine
                                       : fmt::format("{}, host {}", night.machine, night.host)},
        {"session", short_id(night.session)},
        {"baseline", night.baseline_session.empty()
                         ? fmt::format("none, so nothing is judged; {} makes this night the first",
                                       accept_command(night.baseline))
                         : "session " + short_id(night.baseline_session)},
        {"margin", percent(night.margin)},
    };
    for (const auto& [program, commit] : night.program_commits)
        all.emplace_back("commit of " + program, commit);
    if (!night.machine_changes.empty())
        all.emplace_back("machine changed",
                         machine_changes_words(night.machine_changes) + ", since the baseline");
    if (!night.baseline_session.empty())
        all.emplace_back("geometric mean",
                         night.geometric_mean
                             ? fmt::format("{:.4g} (above 1 is slower{})", *night.geometric_mean,
                                           night.control.empty() ? "" : ", in units of the control")
                             : "none: fewer than three rows count in it");
    if (mean_is_suspicious(night))
        all.emplace_back("all rows together",
                         night.rerun_slowdown
                             ? fmt::format("look slower; the median of reruns, old program against "
                                           "new in turns, is {:.3f}",
                                           *night.rerun_slowdown)
                             : "look slower; without reruns of the old program a slow machine "
                               "cannot be told from slow code");
    for (const auto& [metric, ratio] : night.control)
        all.emplace_back("control " + metric, fmt::format("{:.4g} (above 1 is slower)", ratio));
    return all;
}

}  // namespace assay::gate
