// Errors that are the user's to mend: bad input, a missing file, an impossible plan.
#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace assay
