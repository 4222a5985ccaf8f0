// Which checkpoints are whole, and the removal of those that no fallback can want any more.
#pragma once

#include <filesystem>
#include <map>
#include <set>

#include "impls/lazarus/policy/controller.hpp"

namespace assay::lazarus {

/// Follows the orders to write and the reports of the writers. The newest two whole checkpoints
/// stay, since the newest may turn out to be unreadable; what is older is deleted.
class CheckpointShelf {
  public:
    explicit CheckpointShelf(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void ordered(Step step, std::set<Worker> writers) { missing_[step] = std::move(writers); }
    void written(Step step, Worker worker);
    /// A fallback to `step`: what is newer will never be wanted, and must not count as whole.
    void forget_after(Step step) { missing_.erase(missing_.upper_bound(step), missing_.end()); }

  private:
    std::filesystem::path folder_;
    std::map<Step, std::set<Worker>> missing_;  // writers that have not reported yet
};

}  // namespace assay::lazarus
