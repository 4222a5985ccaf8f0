// A number and where it comes from, and how profiles list theirs.
#pragma once

#include <string>
#include <vector>

#include "suite/base/error.hpp"

namespace assay {

/// A number and where it comes from.
struct Sourced {
    double value = 0;
    std::string kind;    ///< "published", "measured", "assumed" or "fitted"
    std::string source;  ///< data sheet, paper section, `assay calibrate …`, or the reasoning
    /// Of a fitted number, and of no other: ids of the claims and sessions that it was fitted from.
    /// A claim named here is no longer evidence where the number was used: it reads calibrated.
    std::vector<std::string> fitted_from = {};
    bool operator==(const Sourced&) const = default;
};

/// What is given or reached: a number times the share of it that is reached.
inline double reached(const Sourced& peak, const Sourced& share) {
    return peak.value * share.value;
}

class ProfileError : public UserError {
    using UserError::UserError;  ///< with file:line:column
};

// The numbers of a profile, listed once: for the reader, the writer, JSON and tables.

/// What a number may be.
enum class ProfileRange { positive, at_least_0, share };

template <class Profile>
struct ProfileField {
    const char* key;
    const char* unit;  ///< empty: a share
    Sourced Profile::*number;
    ProfileRange range;
};

}  // namespace assay
