// assay db watch: what runs store, as it comes.
#pragma once

#include "suite/cli/command.hpp"

namespace assay::cli {

struct WatchOptions {
    bool wait = false;  ///< where nothing is running, for the next run
    bool json = false;  ///< an object per line
};

/// Prints until no run is left, or until it is interrupted. Returns exit_error when a runner died.
int watch_runs(const Context& context, const WatchOptions& options);

}  // namespace assay::cli
