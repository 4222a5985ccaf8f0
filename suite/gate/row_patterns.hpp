// Which rows a person means: patterns, and the mutes that are made of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/experiment/series.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/store/nights.hpp"

namespace assay::gate {

/// A pattern of series texts with * and ?, as a shell matches them; every text matches itself.
bool pattern_matches(const std::string& pattern, const std::string& text);
/// Any of the texts, for example of a row's spellings (suite/report/text/row_name.hpp).
bool pattern_matches(const std::string& pattern, const std::vector<std::string>& texts);

/// Whether a pattern of a person names the row: it or its series as any report prints it.
bool is_named_by(const std::string& pattern, const RowId&);
/// Whether the row is one that it mutes; for how long, the mute itself says.
bool mutes(const store::MuteRecord&, const RowId&);

/// "muted by ada since 2026-11-20 until 2027-01-01: known, issue 12"
std::string mute_words(const store::MuteRecord&);

/// The first of them that mutes the row at `now` (ISO 8601); null: none.
const store::MuteRecord* muting(std::span<const store::MuteRecord> mutes, const RowId&,
                                const std::string& now);

/// The names of a few rows, and how many more there are. Without `names` they are told apart from
/// each other only.
std::string few_names(const std::vector<RowId>&);
std::string few_names(const std::vector<RowId>&, const report::RowNames& names);

}  // namespace assay::gate
