#include "impls/lazarus/policy/checkpoint_ledger.hpp"

namespace assay::lazarus {

void CheckpointLedger::begin(const WriteCheckpoint& checkpoint) {
    auto& owners = missing_[checkpoint.step];
    owners = {checkpoint.dense_owner};
    for (const auto& layer : checkpoint.owners) owners.insert(layer.begin(), layer.end());
}

void CheckpointLedger::written(Worker worker, Step step) {
    const auto found = missing_.find(step);
    if (found == missing_.end()) return;
    found->second.erase(worker);
    if (!found->second.empty()) return;
    newest_complete_ = step;
    // Older ones, complete or not, will never be restored any more.
    missing_.erase(missing_.begin(), missing_.upper_bound(step));
}

void CheckpointLedger::forget_after(Step step) {
    missing_.erase(missing_.upper_bound(step), missing_.end());
}

}  // namespace assay::lazarus
