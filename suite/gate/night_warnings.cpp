#include "suite/gate/night_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "suite/compare/matching.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/row_patterns.hpp"

namespace assay::gate {

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
    std::vector<RowId> ids;
    for (const auto& [series, gate] : gates) ids.push_back(series);
    const report::RowNames names(ids);
    std::set<std::string> unsupported;
    for (const store::Sample& sample : samples) {
        const RowId id = series_of(sample.spec);
        Counts& counts = by_series[id];
        ++counts.all;
        if (sample.status == "failed") ++counts.failed, counts.reason = sample.reason;
        if (sample.status == "invalid") ++counts.invalid, counts.reason = sample.reason;
        if (sample.status == "unsupported")
            unsupported.insert(fmt::format("{}: {}", names.of(id).text(), sample.reason));
    }
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
    for (const std::string& sentence : unsupported)
        losses.warnings.push_back("not supported here: " + sentence);
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
        const std::string sentence = fmt::format(
            "{}: {}", names.of(against.id).text(),
            is_first ? fmt::format("failed in {} samples", against.b->failed) : against.reason);
        if (is_old)
            warn_once(night, "failed before too: " + sentence);
        else
            night.failures.push_back(sentence);
    }
    for (const auto& [series, sentence] : failed)
        if (before.contains(series) && !now.contains(series))
            warn_once(night, "failed before too: " + sentence);
        else
            night.failures.push_back(sentence);
}

std::optional<std::string> context_warning(const std::vector<NightRow>& rows,
                                           const std::string& baseline) {
    int count = 0;
    std::set<std::string> keys;
    for (const NightRow& row : rows) {
        const compare::Row& against = row.against_baseline;
        if (row.muted || against.reason_code != compare::Reason::context_differs) continue;
        ++count;
        for (std::string& key : compare::differing_context(*against.a, *against.b, {}))
            keys.insert(std::move(key));
    }
    if (count == 0) return std::nullopt;
    return fmt::format(
        "{} not compared, since {} {} from the baseline: `assay baseline accept {}` makes tonight "
        "the new one",
        count == 1 ? "1 row is" : fmt::format("{} rows are", count), fmt::join(keys, " and "),
        keys.size() == 1 ? "differs" : "differ", baseline);
}

std::vector<std::string> unmatched_warnings(const std::vector<NightRow>& rows,
                                            const std::string& baseline) {
    std::vector<RowId> vanished, added;
    for (const NightRow& row : rows) {
        const compare::Row& against = row.against_baseline;
        if (row.muted) continue;
        if (against.reason_code == compare::Reason::only_in_a) vanished.push_back(against.id);
        if (against.reason_code == compare::Reason::only_in_b) added.push_back(against.id);
    }
    const auto rows_are = [](std::size_t n) {
        return n == 1 ? std::string("1 row is") : fmt::format("{} rows are", n);
    };
    std::vector<std::string> sentences;
    if (!vanished.empty())
        sentences.push_back(fmt::format(
            "{} in the baseline but not in this night, and so judged by nothing: {}; where that is "
            "meant, `assay baseline accept {}` makes tonight the level",
            rows_are(vanished.size()), few_names(vanished), baseline));
    if (!added.empty())
        sentences.push_back(
            fmt::format("{} not in the baseline, and so judged by nothing until accepted: {}; "
                        "`assay baseline accept {} --series ROW`, or all of tonight without "
                        "--series",
                        rows_are(added.size()), few_names(added), baseline));
    return sentences;
}

std::vector<std::string> unjudged_warnings(const Night& night, const std::string& baseline,
                                           std::span<const RowId> open) {
    if (night.baseline_session.empty()) {
        if (night.nights_before == 0) return {};
        return {fmt::format(
            "this is night {} of '{}' and none was accepted as its level: nothing has been "
            "judged so far; `assay baseline accept {}`",
            night.nights_before + 1, night.suite, baseline)};
    }
    std::vector<std::string> sentences = unmatched_warnings(night.rows, baseline);
    std::set<RowId> here;
    for (const NightRow& row : night.rows) here.insert(row.against_baseline.id);
    std::vector<RowId> gone;
    for (const RowId& row : open)
        if (!here.contains(row)) gone.push_back(row);
    if (!gone.empty())
        sentences.push_back(fmt::format(
            "still open, but of rows that neither this suite nor its baseline has any more: "
            "{}; `assay baseline accept {}` ends that",
            few_names(gone), baseline));
    return sentences;
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
