// The level that nights are compared with: a session, and rows that were accepted later.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/compare/arm.hpp"
#include "suite/experiment/system.hpp"
#include "suite/store/nights.hpp"

namespace assay::gate {

struct BaselineLevel {
    std::string session;  ///< of everything that was not accepted on its own later
    std::map<RowId, store::AcceptedLevel> rows = {};  ///< accepted on their own since

    /// Whose values the row is compared with.
    const std::string& session_of(const RowId& row) const {
        const auto own = rows.find(row);
        return own == rows.end() ? session : own->second.session;
    }
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
    bool even_if_failed = false;  ///< everything of a night that ended in error
};
struct Accepted {
    std::string session;
    std::string started;          ///< when that session did
    std::vector<RowId> rows;      ///< accepted on their own; empty: everything
    std::size_t with_values = 0;  ///< of everything: rows of the night that have some
    std::vector<RowId> empty;     ///< of that session without a valid value: nothing judges them
    std::vector<RowId> settled;   ///< rows whose regression ended with it
    std::vector<RowId> gone;      ///< likewise, since the night has the row no more
    std::vector<RowId> open;      ///< rows whose regression stays open: they have no value there
    std::vector<RowId> later;     ///< likewise: it was seen after that night
    bool of_night = false;        ///< else of another session
    std::string verdict;          ///< of the night; empty: none, it was never finished
    bool program_kept = false;
};
/// Accepts a level and ends the open regressions of its rows, but for rows that were to be run and
/// have no value, and for what was seen later. UserError: there is no finished night of that name,
/// it ended in error or lacks values of rows that the level has (unless that is asked for, or
/// single rows with values are accepted), the session had nothing like the pattern or no values of
/// it, one row without any baseline, the session has samples of two builds.
Accepted accept_level(const Registry&, store::Store&, store::Nights&, const Acceptance&);

}  // namespace assay::gate
