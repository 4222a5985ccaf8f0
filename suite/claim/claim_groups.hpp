// What several claims of a file share, written once: [[group]] and [[settings]].
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/base/strict_toml.hpp"
#include "suite/claim/claim.hpp"

namespace assay {

using ClaimTable = StrictTable<ClaimFileError>;

/// Writes into each [[claim]] of the document what its groups say and it does not: those of its
/// figure before those of its system, the keys of `check` one by one, any other value as a whole.
/// What tells how a claim is checked reaches only claims with a check of their own. Throws
/// ClaimFileError where a group does not stand directly above all claims that its prefix names.
void spread_groups(toml::table& document, const std::string& file);

/// The rows of each [[settings]]: claims of the kind `setting`.
std::vector<Claim> read_settings(ClaimTable& file);

/// The key `evidence` of a claim or of [[settings]].
std::optional<Evidence> read_evidence(ClaimTable& table);

/// The first two parts of an id: "lazarus/fig8" of "lazarus/fig8/gpt-l/200/mro-4".
std::string figure_of(const std::string& id);

}  // namespace assay
