#include "suite/gate/night_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "suite/base/suggested_command.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/night_rows.hpp"
#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/row_patterns.hpp"

namespace assay::gate {
namespace {

/// A benchmark of a program, in so many of its samples.
struct PartCount {
    int samples = 0;
    std::string reason;
};

}  // namespace

void warn_once(Night& night, const std::string& sentence) {
    auto& warnings = night.warnings;
    if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end())
        warnings.push_back(sentence);
}

SampleLosses sample_losses(std::span<const store::Sample> samples,
                           const std::map<RowId, SeriesGate>& gates) {
    SampleLosses losses;
    struct Counts {
        int all = 0, failed = 0, invalid = 0;
        std::string reason;
    };
    std::map<RowId, Counts> by_series;
    std::map<RowId, std::string> unsupported;
    std::map<RowId, PartCount> skipped, failing;
    for (const store::Sample& sample : samples) {
        const RowId id = series_of(sample.spec);
        Counts& counts = by_series[id];
        ++counts.all;
        losses.seconds[id] += sample.seconds;
        if (sample.status == "failed") ++counts.failed, counts.reason = sample.reason;
        if (sample.status == "invalid") ++counts.invalid, counts.reason = sample.reason;
        if (sample.status == "unsupported") losses.not_run[id] = unsupported[id] = sample.reason;
        for (const NotRunPart& part : parts_not_run(sample)) {
            RowId row = id;
            row.labels = part.labels;
            row.metric = part.counter;
            losses.not_run[row] = part.reason;
            if (part.skipped || part.counter.empty()) row.metric = benchmark_time;
            PartCount& count = (part.skipped ? skipped : failing)[row];
            ++count.samples;
            count.reason = part.reason;
        }
    }
    std::vector<RowId> ids;
    for (const auto& [series, gate] : gates) ids.push_back(series);
    for (const auto* parts : {&skipped, &failing})
        for (const auto& [row, part] : *parts) ids.push_back(row);
    const report::RowNames names(ids);
    for (const auto& [id, counts] : by_series) {
        const std::string series = names.of(id).text();
        if (counts.failed == counts.all)
            losses.failed[id] = fmt::format("{}: {}", series, counts.reason);
        else if (counts.failed > 0)
            losses.warnings.push_back(fmt::format("{}: {} of {} samples failed: {}", series,
                                                  counts.failed, counts.all, counts.reason));
        if (counts.invalid > 0)
            losses.warnings.push_back(fmt::format("{}: {} of {} samples were excluded: {}", series,
                                                  counts.invalid, counts.all, counts.reason));
    }
    for (const auto& [id, reason] : unsupported)
        losses.warnings.push_back(
            fmt::format("not supported here: {}: {}", names.of(id).text(), reason));
    for (const auto& [row, part] : skipped) {
        const int all = by_series[row.series()].all;
        const std::string some =
            part.samples < all ? fmt::format(" in {} of {} samples", part.samples, all) : "";
        losses.warnings.push_back(
            fmt::format("{}: skipped{}: {}", names.of(row).text(), some, part.reason));
    }
    for (const auto& [row, part] : failing)  // what failed in all of them is a row's verdict
        if (const int all = by_series[row.series()].all; part.samples < all)
            losses.warnings.push_back(fmt::format("{}: failed in {} of {} samples: {}",
                                                  names.of(row).text(), part.samples, all,
                                                  part.reason));
    return losses;
}

void add_failures(Night& night, const std::map<RowId, std::string>& failed) {
    const report::RowNames names = names_of(night);
    std::set<RowId> before, now;  // of series that failed as a whole
    for (const NightRow& row : night.rows) {
        const compare::Row& against = row.against_baseline;
        const bool is_old = against.verdict == compare::RowVerdict::failed_before;
        // Without a baseline, too: nobody should take such a night for the level unaware.
        const bool is_first = against.reason_code == compare::Reason::only_in_b &&
                              against.b->points.empty() && against.b->failed > 0;
        if (!is_old && !is_first && against.verdict != compare::RowVerdict::failed) continue;
        if (failed.contains(against.id.series())) {
            (is_old ? before : now).insert(against.id.series());
            continue;
        }
        const std::string sentence =
            fmt::format("{}: {}", names.of(against.id).text(),
                        is_first ? fmt::format("failed in {} samples{}", against.b->failed,
                                               row.not_run.empty() ? "" : ": " + row.not_run)
                                 : against.reason);
        if (is_old)
            warn_once(night, "failed before too: " + sentence);
        else
            night.failures.push_back(sentence);
    }
    for (const auto& [series, sentence] : failed)
        if (before.contains(series) && !now.contains(series))
            warn_once(night, fmt::format("failed before too: {}; not judged until it works and is "
                                         "accepted anew: {}",
                                         sentence, accept_command(night, names.of(series).text())));
        else
            night.failures.push_back(sentence);
}

std::vector<std::string> unmatched_warnings(const Night& night) {
    std::vector<RowId> vanished, added, mended, unmeasured;
    for (const NightRow& row : night.rows) {
        const compare::Row& against = row.against_baseline;
        if (row.muted) continue;
        const bool is_left_out =
            std::count(night.left_out.begin(), night.left_out.end(), against.id.experiment) > 0;
        // What was skipped says why.
        if (against.reason_code == compare::Reason::only_in_a && against.a != nullptr &&
            !is_left_out && row.not_run.empty())
            vanished.push_back(against.id);
        if (against.reason_code == compare::Reason::only_in_b) added.push_back(against.id);
        if (!is_without_level(against) || against.verdict == compare::RowVerdict::failed_before)
            continue;
        const bool failed = against.reason_code == compare::Reason::all_failed;
        (failed ? mended : unmeasured).push_back(against.id);
    }
    const report::RowNames names = names_of(night);
    const auto rows = [](const std::vector<RowId>& all, const char* one, const char* many) {
        return all.size() == 1 ? fmt::format("1 row {}", one)
                               : fmt::format("{} rows {}", all.size(), many);
    };
    const std::string how =
        accept_command(night.baseline, " --series ROW") + ", or all of tonight without --series";
    std::vector<std::string> sentences;
    if (!vanished.empty())
        sentences.push_back(fmt::format(
            "{} in the baseline but not in this night, and so judged by nothing: {}; where that is "
            "meant, {} makes tonight the level",
            rows(vanished, "is", "are"), few_names(vanished, names),
            accept_command(night.baseline)));
    if (!added.empty())
        sentences.push_back(
            fmt::format("{} not in the baseline, and so judged by nothing until accepted: {}; {}",
                        rows(added, "is", "are"), few_names(added, names), how));
    if (!mended.empty())
        sentences.push_back(fmt::format(
            "{} when the level was accepted, and so judged by nothing until accepted anew: {}; {}",
            rows(mended, "works tonight but failed", "work tonight but failed"),
            few_names(mended, names), how));
    if (!unmeasured.empty())
        sentences.push_back(fmt::format(
            "{} only skipped or invalid samples when the level was accepted, and so judged by "
            "nothing until accepted anew: {}; {}",
            rows(unmeasured, "had", "had"), few_names(unmeasured, names), how));
    return sentences;
}

std::vector<std::string> unjudged_warnings(const Night& night, std::span<const RowId> left) {
    if (night.baseline_session.empty()) {
        if (night.nights_before == 0) return {};
        return {
            fmt::format("this is night {} of '{}', which has no accepted level: nothing is judged; "
                        "{} makes one",
                        night.nights_before + 1, night.suite, accept_command(night.baseline))};
    }
    std::vector<std::string> sentences = unmatched_warnings(night);
    std::set<RowId> here;
    std::vector<RowId> open, gone;
    for (const NightRow& row : night.rows) {
        here.insert(row.against_baseline.id);
        const auto& left_out = night.left_out;  // named as failures
        if (is_not_run(row) && !row.muted &&
            std::find(left_out.begin(), left_out.end(), row.against_baseline.id.experiment) ==
                left_out.end())
            open.push_back(row.against_baseline.id);
    }
    for (const RowId& row : left)
        if (!here.contains(row)) gone.push_back(row);
    const std::string how = fmt::format("where that is meant, {} makes tonight the level",
                                        accept_command(night.baseline));
    if (!open.empty())
        sentences.push_back(
            fmt::format("{} an open regression, but this suite does not run {} any more: {}; {}",
                        open.size() == 1 ? "1 row has" : fmt::format("{} rows have", open.size()),
                        open.size() == 1 ? "it" : "them", few_names(open), how));
    if (!gone.empty())
        sentences.push_back(fmt::format(
            "{} of the level left this suite (or {} another name now), and so judged by nothing: "
            "{}; {}",
            gone.size() == 1 ? "1 row" : fmt::format("{} rows", gone.size()),
            gone.size() == 1 ? "has" : "have", few_names(gone), how));
    return sentences;
}

std::optional<std::string> ambiguity_warning(const Night& night) {
    if (night.verdict != NightVerdict::ambiguous) return std::nullopt;
    std::vector<std::string> remedies;
    if (count_of(night, Standing::muted) > 0)
        remedies.push_back(suggested("unmute PATTERN") + " has muted rows judged again");
    if (count_of(night, Standing::undecided) > 0)
        remedies.emplace_back("more rounds, or a larger rerun_budget_s, decide more");
    if (count_of(night, Standing::not_compared) > 0)
        remedies.push_back(
            fmt::format("{} makes tonight the level where the rows are meant to differ",
                        accept_command(night.baseline)));
    const std::string rest = rest_words(night);
    return fmt::format(
        "this night is no pass (exit code 3): {} of {} rows compared{}; a regression in the others "
        "would not show{}{}",
        count_of(night, Standing::compared), night.rows.size(), rest.empty() ? "" : ", " + rest,
        remedies.empty() ? "" : ". ", fmt::join(remedies, "; "));
}

std::vector<std::string> ended_mute_warnings(const std::vector<NightRow>& rows,
                                             std::span<const store::MuteRecord> all_mutes,
                                             const std::string& now,
                                             const std::string& last_night) {
    std::vector<std::string> sentences;
    for (const store::MuteRecord& mute : all_mutes) {
        if (store::holds(mute, now) || mute.until < last_night) continue;
        const auto again = std::count_if(rows.begin(), rows.end(), [&](const NightRow& row) {
            return !row.muted && mutes(mute, row.against_baseline.id);
        });
        if (again > 0)
            sentences.push_back(fmt::format(
                "'{}' is no longer muted ({}): {} judged again", mute.pattern, mute_words(mute),
                again == 1 ? "1 row is" : fmt::format("{} rows are", again)));
    }
    return sentences;
}

}  // namespace assay::gate
