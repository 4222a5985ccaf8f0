#include "impls/lazarus/live/checkpoint_shelf.hpp"

#include "impls/lazarus/live/checkpoint.hpp"

namespace assay::lazarus {

void CheckpointShelf::written(Step step, Worker worker) {
    const auto found = missing_.find(step);
    if (found == missing_.end() || found->second.erase(worker) == 0 || !found->second.empty())
        return;
    for (auto older = missing_.begin(); older != found; older = missing_.erase(older)) {
        std::error_code ignored;  // what cannot be deleted goes with the sample's folder
        std::filesystem::remove_all(checkpoint_folder(folder_, older->first), ignored);
    }
}

}  // namespace assay::lazarus
