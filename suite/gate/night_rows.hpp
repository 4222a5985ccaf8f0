// The rows of a night before its reruns, and what they say after them. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/gate/night_plan.hpp"

namespace assay::gate {

/// What earlier nights and people said about one row, since its level was accepted last.
struct RowPast {
    std::vector<double> medians;  ///< of nights that did not call it slower, oldest first
    bool same_before = false;     ///< the night before said same
    std::optional<State> state;
};

/// Relative distance that two nights of this row exceed in one of ten pairs: the 90 % quantile over
/// all pairs of the newest 20 nights. There, one accident does not count, two do. 0 with fewer than
/// five nights.
double own_spread(const std::vector<double>& medians);

/// A pattern of series texts with * and ?, as a shell matches them; every text matches itself.
bool pattern_matches(const std::string& pattern, const std::string& text);
/// Any of the texts, for example of a row's spellings (suite/report/row_name.hpp).
bool pattern_matches(const std::string& pattern, const std::vector<std::string>& texts);

struct RowInputs {
    const compare::Arm* baseline = nullptr;  ///< null: nothing was accepted yet
    const compare::Arm* tonight = nullptr;
    const std::map<RowId, SeriesGate>* gates = nullptr;  ///< by series
    std::map<RowId, RowPast> past;
    /// Whether the baseline's program can be rerun: then reruns in turns tell, and a restless
    /// history excuses nothing.
    bool old_program = false;
    /// Whether a person muted the row.
    std::function<bool(const RowId&)> muted = [](const RowId&) { return false; };
    std::uint64_t seed = 1;
};

/// Rows with comparison, history and candidates. Their arms' pointers are still there.
std::vector<NightRow> night_rows(const RowInputs&);

/// A sentence about rows that are not compared since their contexts (data, calibration …) are not
/// the baseline's, which then must be accepted anew. nullopt: there are none but muted ones. The
/// arms' pointers must be there.
std::optional<std::string> context_warning(const std::vector<NightRow>&,
                                           const std::string& baseline);

/// Sentences about rows that the baseline has and tonight lacks, and the other way round: nobody
/// judges them, muted ones left out.
std::vector<std::string> unmatched_warnings(const std::vector<NightRow>&,
                                            const std::string& baseline);

/// The names of a few rows, and how many more there are.
std::string few_names(const std::vector<RowId>&);

/// Median of tonight's values; nullopt without any.
std::optional<double> median_tonight(const compare::Row&);

/// What the night says about a row, its rerun (if there was one) included.
Evidence evidence_of(const NightRow&);

std::string_view to_string(Evidence);  ///< "none", "slower", "not again", "same"
std::optional<Evidence> parse_evidence(std::string_view);

}  // namespace assay::gate
