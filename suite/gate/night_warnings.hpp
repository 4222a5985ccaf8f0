// What a night must tell a person beside its verdict: what did not run, and what nobody judges.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/gate/plan/night_plan.hpp"
#include "suite/store/nights.hpp"
#include "suite/store/records.hpp"

namespace assay::gate {

/// Adds the warning unless it is there.
void warn_once(Night&, const std::string& sentence);

/// What of the night's samples did not run: of a whole series a failure, of a part a warning.
struct SampleLosses {
    std::map<RowId, std::string> failed;  ///< series of which every sample failed: its name and why
    /// What programs say of a series, or of a part of it (its id with the part's labels), that was
    /// skipped or failed.
    std::map<RowId, std::string> not_run;
    std::map<RowId, double> seconds;  ///< that the samples of each series took
    std::vector<std::string> warnings;
};
SampleLosses sample_losses(std::span<const store::Sample>,
                           const std::map<RowId, SeriesGate>& gates);

/// What failed as a whole makes the night an error, unless it failed in the baseline, too: then it
/// is nothing new, and a warning keeps it in sight. The other rows keep their verdicts. `failed`:
/// of sample_losses(). The arms' pointers must be there.
void add_failures(Night&, const std::map<RowId, std::string>& failed);

/// Sentences about rows that nobody judges, muted ones left out: those that the baseline has and
/// tonight lacks, the other way round, and those that work tonight but had no value when their
/// level was accepted.
std::vector<std::string> unmatched_warnings(const Night&);

/// A night can be green since nothing was looked at: it has no baseline though it is not the first,
/// or rows have no partner, or left the suite (`left`), some with an open regression.
std::vector<std::string> unjudged_warnings(const Night&, std::span<const RowId> left);

/// Why a night that is ambiguous is no pass, and what to do. nullopt: it is not. Judged before.
std::optional<std::string> ambiguity_warning(const Night&);

/// Of mutes that ended since the night before (`last_night`: when that began), once: in the first
/// night that judges their rows again.
std::vector<std::string> ended_mute_warnings(const std::vector<NightRow>&,
                                             std::span<const store::MuteRecord>,
                                             const std::string& now, const std::string& last_night);

}  // namespace assay::gate
