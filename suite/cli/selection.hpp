// The words that select: cases of an experiment (axes, profile, provenance) and claims.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/system.hpp"

namespace assay::cli {

/// "model=gpt-l,gpt-s" → name and values, added to what the axis already has. UserError.
void add_axis(const std::string& text, std::map<std::string, std::vector<Value>>& axes);

Profile profile_named(const std::string& name);        ///< of --profile; UserError
Provenance provenance_named(const std::string& name);  ///< of --mode; UserError

/// Claims whose experiment matches the pattern, or whose id is the pattern or lies below it
/// ("lazarus/fig8/gpt-l"). Throws UserError, with the nearest id, when there is none.
std::vector<const Claim*> select_claims(const Registry& registry, const std::string& pattern);

/// Of several patterns, each claim once; without patterns all.
std::vector<const Claim*> select_claims(const Registry& registry,
                                        const std::vector<std::string>& patterns);

}  // namespace assay::cli
