// What a new epoch looks like (paper section 4.3): who holds what, and what has to travel for it,
// given who takes part, what they hold, and the loads.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "impls/lazarus/policy/controller/strategy.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"

namespace assay::lazarus {

/// Which worker holds the state of which experts (weights and moments) since the last Go. Every
/// worker in it also holds the non-expert ("dense") state.
class Holdings {
  public:
    Holdings(int layers, int experts) : layers_(layers), experts_(experts) {}

    /// Replaces everything by a plan: holders[layer][i] are the experts of training[i].
    void assign(const std::vector<Worker>& training, const ModelPlacement& holders);
    void forget(Worker worker) { held_.erase(worker); }
    void clear() { held_.clear(); }

    bool has_state(Worker worker) const { return held_.count(worker) > 0; }
    /// Lowest-id worker that holds dense state.
    std::optional<Worker> dense_holder() const;
    /// What `workers` hold, [layer][index into workers]; nothing for a joiner.
    ModelPlacement table(const std::vector<Worker>& workers) const;
    /// The first expert that nobody holds; recoverable ⇔ none (paper section 4.3).
    std::optional<LostExpert> lost() const;

    /// One writer for every (layer, expert): the holder with the least to write so far, then the
    /// lowest id. Requires that nothing is lost.
    std::vector<std::vector<Worker>> share_out_writing() const;

  private:
    std::vector<Worker> workers() const;

    int layers_, experts_;
    std::map<Worker, Placement> held_;  ///< per layer
};

/// Fills in members, training, holders, transfers and dense sources; the caller adds epoch,
/// steps and reason. `training` is a subset of `members`, both ascending; as many as the strategy
/// can use, which says who holds what.
/// Joiners fetch the dense state from as many members as there are, so that none sends it twice
/// while another could.
/// `from_storage`: every member loads its state, nothing travels between them.
Reconfigure plan_reconfiguration(const Strategy& strategy, const std::vector<Worker>& members,
                                 const std::vector<Worker>& training, const Holdings& holdings,
                                 const std::vector<Loads>& loads, bool from_storage);

}  // namespace assay::lazarus
