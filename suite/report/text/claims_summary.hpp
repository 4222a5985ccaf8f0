// The claims as counts and as tables: how many hold, and why others were not checked, each reason
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::report {

/// The newest check of each, in the claims' order. A claim that was never checked is checked
/// against nothing, which says whether it could be here. `store` null: no database yet.
std::vector<ClaimCheck> newest_checks(const Registry& registry, const store::Store* store,
                                      const std::vector<const Claim*>& claims);

/// Settings are in no other count.
struct ClaimsTally {
    std::size_t hold = 0, contradicted = 0, discrepancies = 0, calibrated = 0;
    std::size_t need_inputs = 0;  ///< data, weights, a GPU or a cluster that is not here
    std::size_t not_run = 0;
    std::size_t no_command = 0;  ///< nothing in this version could check them
    std::size_t settings = 0;

    std::size_t checked() const { return hold + contradicted + discrepancies + calibrated; }
    std::size_t claims() const { return checked() + need_inputs + not_run + no_command; }
};
ClaimsTally tally(const Registry&, std::span<const ClaimCheck>);

/// "29 of 49 checked hold, 4 discrepancies, 16 calibrated; 58 need data or a GPU"
std::string headline(const ClaimsTally&);

/// Claims that were not checked for one reason.
struct UncheckedClaims {
    std::size_t count = 0;
    std::string why;    ///< a sentence, with the command that changes it where there is one
    std::string where;  ///< "lazarus/fig8 (7), lazarus/tab2 (4)"
};
/// The largest group first; what only has to be run comes before everything else.
std::vector<UncheckedClaims> unchecked(const Registry&, std::span<const ClaimCheck>);

/// Whether results speak for or against it.
bool rests_on_results(const ClaimCheck&);

/// "section 6.3, Fig. 8": the claim's source without the paper that its system names.
std::string place_in_paper(const Registry&, const Claim&);

/// For the terminal: a row for each claim that results speak for or against (verdict, paper's
/// value, ours, provenance, claim; below it what the paper says, where, and the reason; on
/// terminals that the table does not fit a claim to a line, the rest below it), then the others as
/// counts, one per reason. Settings are left out.
std::string claims_table(const Registry&, std::span<const ClaimCheck>, std::size_t columns = 98);
/// A row for each of them, checked or not.
std::string claims_rows(const Registry&, std::span<const ClaimCheck>, std::size_t columns = 98);
/// What the paper chose, in `columns`; empty without settings.
std::string settings_table(const Registry&, std::span<const ClaimCheck>,
                           std::size_t columns = SIZE_MAX);

}  // namespace assay::report
