// Errors that are the user's to mend: bad input, a missing file, an impossible plan.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// `what()` says what was wrong, where, and how to mend it. The command line prints it without a
/// stack trace and exits with 1.
class UserError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Something this machine cannot do (no GPU, no libtorch in this build). Exit code 4.
class NotSupportedHere : public UserError {
    using UserError::UserError;
};

// "Did you mean …": the known word closest to a mistyped one.

/// The candidate with the smallest edit distance (insertions, deletions, substitutions, swaps of
/// neighbours; letter case is free). For ids with a '/', what follows it is tried alone too, so
/// that "fig8" finds "lazarus/fig8". Nothing when even the best shares too little to be a slip:
/// more than half of its letters would have to change.
std::optional<std::string> nearest_id(std::string_view typed,
                                      const std::vector<std::string>& candidates);

}  // namespace assay
