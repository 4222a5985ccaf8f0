// Checkpoints on disk: one file per block of state, written by the worker that owns the block.
// FOLDER/step-N/<block>.state: a header line, then the bytes of values and both moments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "impls/nn/moe/state.hpp"

namespace assay::nn {

/// A missing, foreign or torn checkpoint file; the text names it.
class CheckpointError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// FOLDER/step-N.
std::filesystem::path checkpoint_folder(const std::filesystem::path& folder, std::int64_t step);

/// Injected damage. torn: the last block's file is cut short, yet nothing is reported. no_space:
/// the writes go to a full device, so that the kernel refuses them (ENOSPC).
enum class CheckpointDamage { none, torn, no_space };

/// Writes blocks as the state before `step`. Each file appears whole or not at all (written aside,
/// synced, renamed). Throws CheckpointError when a file cannot be written, of which nothing is then
/// left, or when a block differs from its seal: a checkpoint of damaged state would look whole.
void write_checkpoint(const std::filesystem::path& folder, std::int64_t step, MoeState& state,
                      const std::vector<BlockKey>& blocks,
                      CheckpointDamage damage = CheckpointDamage::none);

/// Replaces the blocks' contents by those of the checkpoint; step 0 is the initial state and needs
/// no file. Throws CheckpointError, also when the content does not match its recorded digest.
void read_checkpoint(const std::filesystem::path& folder, std::int64_t step, MoeState& state,
                     const std::vector<BlockKey>& blocks);

/// Which checkpoints are whole, and the removal of those that no fallback can want any more.
/// Follows the orders to write and the reports of the writers. The newest two whole checkpoints
/// stay, since the newest may turn out to be unreadable; what is older is deleted.
class CheckpointRetention {
  public:
    explicit CheckpointRetention(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void ordered(std::int64_t step, std::set<int> writers) { missing_[step] = std::move(writers); }
    void written(std::int64_t step, int worker);
    /// A fallback to `step`: what is newer will never be wanted, and must not count as whole.
    void forget_after(std::int64_t step) {
        missing_.erase(missing_.upper_bound(step), missing_.end());
    }

  private:
    std::filesystem::path folder_;
    std::map<std::int64_t, std::set<int>> missing_;  // writers that have not reported yet
};

}  // namespace assay::nn
