// The level that nights are compared with: a session, and rows that were accepted later.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/compare/arm.hpp"
#include "suite/experiment/system.hpp"
#include "suite/gate/night_rows.hpp"
#include "suite/store/nights.hpp"

namespace assay::gate {

struct BaselineLevel {
    std::string session;  ///< of everything that was not accepted on its own later
    std::string since;    ///< when that session started
    std::map<RowId, store::AcceptedLevel> rows;  ///< accepted on their own since
};

/// nullopt: nothing of that name was accepted yet. A baseline that was set by its session alone
/// counts too.
std::optional<BaselineLevel> baseline_level(const store::Store&, const store::Nights&,
                                            const std::string& name);

/// Of everything that was accepted, in name order.
std::vector<std::string> baseline_names(const store::Store&, const store::Nights&);
/// What to say of a name that no baseline has: the nearest one, and all of them.
UserError unknown_baseline(const store::Store&, const store::Nights&, const std::string& name);

compare::Arm baseline_arm(const Registry&, const store::Store&, const BaselineLevel&);

struct Acceptance {
    std::string name;     ///< of the baseline; usually that of the suite
    std::string session;  ///< id or prefix; empty: that of the suite's newest finished night
    std::string series;   ///< pattern; empty: everything
    std::string why;
};
struct Accepted {
    std::string session;
    std::vector<RowId> rows;     ///< accepted on their own; empty: everything
    std::vector<RowId> settled;  ///< rows whose regression ended with it
    std::vector<RowId> empty;    ///< series of that session without a sample that is ok
    bool of_night = false;       ///< else of another session
    bool program_kept = false;
};
/// Accepts a level and ends the open regressions of its rows. UserError: there is no finished night
/// of that name, the session had nothing like the pattern, one row without any baseline, the
/// session has samples of two builds.
Accepted accept_level(store::Store&, store::Nights&, const Acceptance&);

}  // namespace assay::gate
