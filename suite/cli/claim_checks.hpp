// The newest check of each claim, as `claims`, `reproduce` and the JSON outputs show it.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {

/// Claims whose experiment matches the pattern, or whose id is the pattern or lies below it
/// ("lazarus/fig8/gpt-l"). Throws UserError, with the nearest id, when there is none.
std::vector<const Claim*> select_claims(const Registry& registry, const std::string& pattern);

/// In the claims' order. A claim that was never checked is checked against nothing, which says
/// whether it could be here. `store` null: no database yet.
std::vector<ClaimCheck> newest_checks(const Registry& registry, const store::Store* store,
                                      const std::vector<const Claim*>& claims);

/// Said where samples of other machines arrive: stored verdicts know nothing of them.
inline constexpr const char* claims_after_arrival =
    "`assay claims --again` judges the claims by everything that is here now\n";

}  // namespace assay::cli
