// What the workers of a simulated cluster hold of the model. Whether the protocol leaves everyone
// with the right state does not depend on time, so a simulated training keeps nothing; campaigns
// keep a hash for every expert (campaign/hashed_states.hpp) and look whether it is the right one.
#pragma once

#include <optional>
#include <utility>

#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus {

using ExpertId = std::pair<int, int>;       ///< layer, expert
using StatePart = std::optional<ExpertId>;  ///< none: all that belongs to no expert ("dense")

/// Told of everything that changes what somebody holds, as it happens. Does nothing.
class StateKeeper {
  public:
    virtual ~StateKeeper() = default;

    // ---- a new plan: what arrives is staged until Go --------------------------------------------
    virtual void expects(Worker, const Reconfigure&) {}  ///< what was staged before is dropped
    virtual void moved(Worker /*from*/, Worker /*to*/, const StatePart&) {}
    virtual void restored(Worker, const Reconfigure&) {}  ///< from the checkpoint that it names
    virtual void adopted(Worker, const Reconfigure&) {}   ///< Go: keeps what the plan gives it

    virtual void applied(Worker, const Commit&, const Reconfigure&) {}
    virtual void wrote(Worker, Step, const StatePart&) {}
};

}  // namespace assay::lazarus
