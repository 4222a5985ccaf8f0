// The claims as counts and as tables: how many hold, and what keeps the others from a verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/data/needs.hpp"
#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::report {

/// What became of a claim; one of these, never two.
enum class ClaimState {
    holds,
    contradicted,
    undecided,
    calibrated,
    needs_data,  ///< a trace, weights, …, that is not on this machine
    needs_gpu,
    needs_cluster,  ///< the paper's own
    no_command,     ///< nothing in this version could check it
    not_run,        ///< all that it needs is here: a command checks it
};
/// "holds", "contradicted", "undecided", "calibrated", "needs data", "needs GPU",
/// "needs cluster", "no command", "not run"
std::string_view state_name(ClaimState);

/// `here`: what this machine has of what claims need.
ClaimState state_of(const Claim&, const ClaimCheck&, const NeedIsHere& here = data::is_here);

/// to_json() of both, "state": the state's name, or "setting", and "tolerance": null or
/// {"relative","absolute","text"}.
nlohmann::json claim_json(const Claim&, const ClaimCheck&);

/// A check of each claim, in their order, from those that are known. What keeps a claim without a
/// result from one is said as it is on this machine now: data may have come since it was checked.
std::vector<ClaimCheck> on_this_machine(const Registry& registry,
                                        const std::vector<const Claim*>& claims,
                                        std::span<const ClaimCheck> known,
                                        const NeedIsHere& here = data::is_here);

/// The same, from the newest stored checks; where some were reached by older rules, these and those
/// of claims that have none are judged anew, from the observations. `store` null: no database yet.
std::vector<ClaimCheck> newest_checks(const Registry& registry, const store::Store* store,
                                      const std::vector<const Claim*>& claims,
                                      const NeedIsHere& here = data::is_here);

/// The same, of what the store holds judged anew, by this program's claims and rules.
std::vector<ClaimCheck> checks_of_today(const Registry& registry, const store::Store* store,
                                        const std::vector<const Claim*>& claims,
                                        const NeedIsHere& here = data::is_here);

/// Claims by state.
struct StateCounts {
    std::size_t hold = 0, contradicted = 0, undecided = 0, calibrated = 0;
    std::size_t explained = 0;                  ///< of those that are contradicted
    std::map<Provenance, std::size_t> hold_by;  ///< those that hold, by how it was obtained
    std::size_t need_data = 0, need_gpu = 0, need_cluster = 0, no_command = 0, not_run = 0;

    std::size_t checked() const { return hold + contradicted + undecided + calibrated; }
    std::size_t not_checkable() const { return need_data + need_gpu + need_cluster + no_command; }
    std::size_t claims() const { return checked() + not_checkable() + not_run; }
};

/// The papers' claims, and apart from them what is ours and what is arithmetic; settings are in no
/// other count.
struct ClaimsTally : StateCounts {
    StateCounts ours, arithmetic;
    std::size_t settings = 0;

    std::size_t all_kinds() const { return claims() + ours.claims() + arithmetic.claims(); }
};
ClaimsTally tally(const Registry&, std::span<const ClaimCheck>,
                  const NeedIsHere& here = data::is_here);

/// "29 of 49 checked hold, 4 contradicted (3 explained), 16 calibrated; 55 not run; ours: 5 of 6
/// checked hold"
std::string headline(const ClaimsTally&);

/// "explained: Slow memory. (of 1.22 ± 0.1)", or that the explanation is of another value than what
/// was obtained; empty where the claim is not contradicted or has none.
std::string explanation_text(const Claim&, const ClaimCheck&);

/// Whether results speak for or against it.
bool rests_on_results(const ClaimCheck&);

/// "section 6.3, Fig. 8": the claim's source without the paper that its system names.
std::string place_in_paper(const Registry&, const Claim&);

/// For the terminal: a row for each claim that results speak for or against (verdict, paper's
/// value, ours, provenance, claim; below it what the paper says, where, and the reason; on
/// terminals that the table does not fit a claim to a line, the rest below it), then the others as
/// counts, one per reason. Settings are left out.
std::string claims_table(const Registry&, std::span<const ClaimCheck>, std::size_t columns = 98);
/// A row for each of them, checked or not. Neighbours with one reason have it once, below them.
std::string claims_rows(const Registry&, std::span<const ClaimCheck>, std::size_t columns = 98);
/// What the paper chose, in `columns`; empty without settings.
std::string settings_table(const Registry&, std::span<const ClaimCheck>,
                           std::size_t columns = SIZE_MAX);

}  // namespace assay::report
