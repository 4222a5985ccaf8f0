#include "suite/gate/row_patterns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

namespace assay::gate {

bool pattern_matches(const std::string& pattern, const std::string& text) {
    return pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool pattern_matches(const std::string& pattern, const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return pattern_matches(pattern, text); });
}

bool is_named_by(const std::string& pattern, const RowId& row) {
    return pattern_matches(pattern, report::row_spellings(row));
}

bool mutes(const store::MuteRecord& mute, const RowId& row) {
    return is_named_by(mute.pattern, row) &&
           (mute.metric.empty() || pattern_matches(mute.metric, row.metric_text()));
}

const store::MuteRecord* muting(std::span<const store::MuteRecord> mutes, const RowId& row,
                                const std::string& now) {
    for (const store::MuteRecord& mute : mutes)
        if (store::holds(mute, now) && gate::mutes(mute, row)) return &mute;
    return nullptr;
}

std::string mute_words(const store::MuteRecord& mute) {
    return fmt::format("muted{}{}{}{}", mute.who.empty() ? "" : " by " + mute.who,
                       mute.at.empty() ? "" : " since " + mute.at.substr(0, 10),
                       mute.until.empty() ? "" : " until " + mute.until,
                       mute.why.empty() ? "" : ": " + mute.why);
}

std::string few_names(const std::vector<RowId>& rows) {
    return few_names(rows, report::RowNames(rows));
}

std::string few_names(const std::vector<RowId>& rows, const report::RowNames& names) {
    constexpr std::size_t few = 5;
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(rows.size(), few); ++i)
        shown.push_back(names.of(rows[i]).text());
    if (rows.size() > few) shown.push_back(fmt::format("and {} more", rows.size() - few));
    return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace assay::gate
