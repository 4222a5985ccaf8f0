// When a server that restores its graphs is ready, in closed form, and the costs that this needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "suite/base/describe.hpp"

namespace assay::foundry {

/// Seconds. One thread makes the driver's calls, `threads` prepare members beside it
/// (specification 3.9).
struct Costs {
    double capture = 0;      ///< a graph by stream capture, until it can be launched
    double build = 0;        ///< a graph node by node
    double instantiate = 0;  ///< an executable of a graph
    double rewrite = 0;      ///< a member's parameters written into its template
    double prepare = 0;      ///< a member's parameters, without the driver
    double images = 0;       ///< the kernels' binaries, all of them
    double update = 0;       ///< an executable changed to another member; paid after ready
    std::int64_t threads = 1;
};

/// "capture=0.06,build=0.03": what is not named costs 0. Throws UserError, naming --costs or
/// --threads: a name that is unknown or stands twice, a number that is negative or not finite, no
/// thread.
Costs parse_costs(std::string_view text, std::string_view threads = "1");

/// Seconds until every graph can be launched, at once or after an update.
struct ReadyTimes {
    double capture = 0;       ///< each graph captured again
    double no_templates = 0;  ///< each built and instantiated
    double r1 = 0;            ///< templates built, members prepared, updated when launched
    double r3_lazy = 0;       ///< the same; a member is instantiated when first launched
    double r3_eager = 0;      ///< members instantiated, too
};
ASSAY_FIELDS(ReadyTimes, capture, no_templates, r1, r3_lazy, r3_eager)

/// Of `graphs` in `groups`, each of which has one template. Throws std::logic_error: more groups
/// than graphs, no thread.
ReadyTimes ready_times(const Costs& costs, std::size_t graphs, std::size_t groups);

}  // namespace assay::foundry
