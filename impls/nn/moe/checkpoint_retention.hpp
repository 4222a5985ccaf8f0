// Which checkpoints of a training are whole, and which of them stay. Without libtorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace assay::nn {

/// FOLDER/step-N.
inline std::filesystem::path checkpoint_folder(const std::filesystem::path& folder,
                                               std::int64_t step) {
    return folder / ("step-" + std::to_string(step));
}

/// Follows the orders to write and the reports of the writers. The newest two whole checkpoints
/// stay, since the newest may turn out to be unreadable; what is older is deleted, as no fallback
/// can want it any more.
class CheckpointRetention {
  public:
    explicit CheckpointRetention(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void ordered(std::int64_t step, std::set<int> writers) { missing_[step] = std::move(writers); }
    void written(std::int64_t step, int worker) {
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
    /// A fallback to `step`: what is newer will never be wanted, and must not count as whole.
    void forget_after(std::int64_t step) {
        missing_.erase(missing_.upper_bound(step), missing_.end());
    }

  private:
    std::filesystem::path folder_;
    std::map<std::int64_t, std::set<int>> missing_;  // writers that have not reported yet
};

}  // namespace assay::nn
