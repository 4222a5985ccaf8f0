// Which checkpoints are complete. A checkpoint is complete once every worker that owns a part of it
// has reported its part durable; one that misses a part never is.
//
// What the driver must keep: the newest two complete checkpoints, and the parts of every one newer
// than them. A Reconfigure with restore_step r voids all checkpoints of later steps: they count no
// longer among the two, and their parts may be deleted or overwritten.
#pragma once

#include <map>
#include <set>

#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus {

class CheckpointLedger {
  public:
    /// Complete checkpoints that are remembered, the newest ones.
    static constexpr std::size_t kept = 2;

    void begin(const WriteCheckpoint&);
    /// A part is durable. Reports for checkpoints or by workers that are not expected are ignored.
    void written(Worker, Step);
    /// Ordered and not yet complete.
    bool under_way(Step step) const { return missing_.count(step) > 0; }
    /// 0 where there is none: the initial state can always be rebuilt from the seed.
    Step newest_complete() const { return complete_.empty() ? 0 : *complete_.rbegin(); }
    /// The checkpoint turned out to be unreadable: it is never chosen again. The same step may be
    /// written anew later.
    void reject(Step step) { complete_.erase(step); }
    /// The steps after `step` are undone: checkpoints of them must never complete or be restored,
    /// since they are of another history.
    void forget_after(Step step);

  private:
    std::map<Step, std::set<Worker>> missing_;  ///< checkpoints under way → owners not heard of
    std::set<Step> complete_;
};

inline void CheckpointLedger::begin(const WriteCheckpoint& checkpoint) {
    auto& owners = missing_[checkpoint.step];
    owners = {checkpoint.dense_owner};
    for (const auto& layer : checkpoint.owners) owners.insert(layer.begin(), layer.end());
    complete_.erase(checkpoint.step);  // its parts are about to be replaced
}

inline void CheckpointLedger::written(Worker worker, Step step) {
    const auto found = missing_.find(step);
    if (found == missing_.end()) return;
    found->second.erase(worker);
    if (!found->second.empty()) return;
    complete_.insert(step);
    // Older ones that are not complete yet need not become so any more.
    missing_.erase(missing_.begin(), missing_.upper_bound(step));
    while (complete_.size() > kept) complete_.erase(complete_.begin());
}

inline void CheckpointLedger::forget_after(Step step) {
    missing_.erase(missing_.upper_bound(step), missing_.end());
    complete_.erase(complete_.upper_bound(step), complete_.end());
}

}  // namespace assay::lazarus
