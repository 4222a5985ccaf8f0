// Claims that were not checked, by the reason: each reason once, with the command that changes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/data/needs.hpp"
#include "suite/experiment/system.hpp"

namespace assay::report {

/// Claims that were not checked for one reason.
struct UncheckedClaims {
    std::size_t count = 0;
    std::string why;    ///< a sentence, with the command that changes it where there is one
    std::string where;  ///< "lazarus/fig8 (7), lazarus/tab2 (4)"
};
/// The largest group first; what only has to be run comes before everything else. Reasons that
/// differ only in the experiment that they name are one, and call it EXPERIMENT.
std::vector<UncheckedClaims> unchecked(const Registry&, std::span<const ClaimCheck>,
                                       const NeedIsHere& here = data::is_here);

/// The reason with EXPERIMENT where it names this one.
std::string without_experiment(std::string_view reason, std::string_view experiment);

}  // namespace assay::report
