#include "impls/lazarus/policy/checkpoint_ledger.hpp"

namespace assay::lazarus {

void CheckpointLedger::begin(const WriteCheckpoint& checkpoint) {
    auto& owners = missing_[checkpoint.step];
    owners = {checkpoint.dense_owner};
    for (const auto& layer : checkpoint.owners) owners.insert(layer.begin(), layer.end());
    complete_.erase(checkpoint.step);  // its parts are about to be replaced
}

void CheckpointLedger::written(Worker worker, Step step) {
    const auto found = missing_.find(step);
    if (found == missing_.end()) return;
    found->second.erase(worker);
    if (!found->second.empty()) return;
    complete_.insert(step);
    // Older ones that are not complete yet need not become so any more.
    missing_.erase(missing_.begin(), missing_.upper_bound(step));
    while (complete_.size() > kept) complete_.erase(complete_.begin());
}

void CheckpointLedger::forget_after(Step step) {
    missing_.erase(missing_.upper_bound(step), missing_.end());
    complete_.erase(complete_.upper_bound(step), complete_.end());
}

}  // namespace assay::lazarus
