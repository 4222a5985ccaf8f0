// A campaign whose seeds do to their process whatever a seed can do to it.
#pragma once

#include "suite/drive/campaign/campaign.hpp"

namespace assay::testing {

/// Modes:
///   steady     seeds that 41 divides break a rule; those of variant "strict" that 10 divides,
///              those of variant "lenient" never
///   rough      odd seeds are fine, even ones are as rough() says; at most a second each
///   slow       a tenth of a second each, in a process each
///   elsewhere  not supported here
drive::Campaign toy_campaign();

/// What an even seed of mode rough does.
enum class Trouble {
    broken_rule = 2,
    abort = 4,
    endless_loop = 6,
    garbage = 8,  ///< into every pipe that is open
    exit_well = 10,
    exception = 12,
    thrown_number = 14,
    print = 16,        ///< on standard output; all is fine
    leave_child = 18,  ///< that sleeps and holds the pipe, and end
    sigkill = 20,
    no_utf8 = 22,  ///< breaks a rule, and cannot say it in UTF-8
    close_all = 24,
    flood = 26,  ///< of garbage, without an end of line
    nothing = 28
};

}  // namespace assay::testing
