#include "impls/lazarus/live/checkpoint_shelf.hpp"

#include "impls/lazarus/live/checkpoint.hpp"

namespace assay::lazarus {

void CheckpointShelf::written(Step step, Worker worker) {
    const auto found = missing_.find(step);
    if (found == missing_.end() || found->second.erase(worker) == 0 || !found->second.empty())
        return;
    // The newest but one that is whole; before there are two, nothing is deleted.
    int whole = 0;
    auto oldest_kept = missing_.end();
    while (oldest_kept != missing_.begin() && whole < 2)
        if ((--oldest_kept)->second.empty()) ++whole;
    for (auto older = missing_.begin(); whole == 2 && older != oldest_kept;
         older = missing_.erase(older)) {
        std::error_code ignored;  // what cannot be deleted goes with the sample's folder
        std::filesystem::remove_all(checkpoint_folder(folder_, older->first), ignored);
    }
}

}  // namespace assay::lazarus
