// Which claims a pattern means.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/system.hpp"

namespace assay::cli {

/// Claims whose experiment matches the pattern, or whose id is the pattern or lies below it
/// ("lazarus/fig8/gpt-l"). Throws UserError, with the nearest id, when there is none.
std::vector<const Claim*> select_claims(const Registry& registry, const std::string& pattern);

/// Of several patterns, each claim once; without patterns all.
std::vector<const Claim*> select_claims(const Registry& registry,
                                        const std::vector<std::string>& patterns);

/// Said where samples of other machines arrive: stored verdicts know nothing of them.
inline constexpr const char* claims_after_arrival =
    "`assay claims --again` judges the claims by everything that is here now\n";

}  // namespace assay::cli
