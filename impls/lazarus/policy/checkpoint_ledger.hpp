// Which checkpoints are complete. A checkpoint is complete once every worker that owns a part of it
// has reported its part durable; one that misses a part never is.
#pragma once

#include <map>
#include <set>

#include "impls/lazarus/policy/protocol.hpp"

namespace assay::lazarus {

class CheckpointLedger {
  public:
    void begin(const WriteCheckpoint&);
    /// A part is durable. Reports for checkpoints or by workers that are not expected are ignored.
    void written(Worker, Step);
    /// 0 where there is none: the initial state can always be rebuilt from the seed.
    Step newest_complete() const { return newest_complete_; }
    /// The steps after `step` are undone: checkpoints of them must never complete, since their
    /// missing parts would come from another history.
    void forget_after(Step step);

  private:
    std::map<Step, std::set<Worker>> missing_;  ///< checkpoints under way → owners not heard of
    Step newest_complete_ = 0;
};

}  // namespace assay::lazarus
