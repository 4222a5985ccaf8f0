// What sets the competing systems apart, behind one interface: the controller has the protocol of
// steps, reconfigurations and failures, and asks a strategy for the rest. Lazarus is one, each
// rival another (rivals/systems.hpp lists them by name). Without state: what they are asked says
// everything, so decisions depend on nothing but the settings, which are recorded with them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

class Strategy {
  public:
    virtual ~Strategy() = default;

    // ---- who trains and holds what -------------------------------------------------------------

    /// Of so many nodes, how many can train at once; 0: together they cannot hold every expert.
    virtual int usable(int nodes) const = 0;
    /// Where usable() is 0: a sentence that says why, and what to do about it.
    virtual std::string too_few(int nodes) const = 0;
    /// Which nodes to leave out so that as many remain as are usable; ascending. `held[layer]
    /// [node]`: what they hold now, nothing for a node without state.
    virtual std::vector<int> surplus(const ModelPlacement& held) const = 0;
    /// The plan: who is to hold what, [layer][node], ascending, repeated per replica. `held` as of
    /// surplus(), of usable nodes and no more; `loads`: per layer, since the last plan.
    virtual ModelPlacement holders(const ModelPlacement& held,
                                   const std::vector<Loads>& loads) const = 0;
    /// A new plan is due after so many committed steps though nobody came or went.
    virtual bool rebalances_after(Step committed) const = 0;

    // ---- what comings and goings mean (Recovery) -----------------------------------------------

    /// A lost node that trained sends everyone back to the newest checkpoint, and nodes join and
    /// leave by a restart from a checkpoint written for it. Otherwise survivors fetch what they
    /// miss from each other and go back only where they cannot, and nodes come and go between two
    /// steps, by transfers.
    bool restarts() const { return recovery_ == Recovery::restart; }
    /// Surplus nodes wait for the next plan that has a place for them. Otherwise they are dropped,
    /// and only a restart takes them back.
    bool surplus_stays() const { return surplus_stays_; }

  protected:
    explicit Strategy(const ControllerConfig& config)
        : recovery_(config.recovery),
          surplus_stays_(config.surplus_waits.value_or(config.recovery == Recovery::restart)) {}

  private:
    Recovery recovery_;
    bool surplus_stays_;
};

/// The one that the settings ask for. Throws std::invalid_argument naming the setting that makes no
/// sense for it.
std::shared_ptr<const Strategy> make_strategy(const ControllerConfig& config);

}  // namespace assay::lazarus
