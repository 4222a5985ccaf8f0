// Checkpoints on disk: one file per block of state, written by the worker that owns the block.
// FOLDER/step-N/<block>.state: a header line, then the bytes of values and both moments.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/trainer.hpp"

namespace assay::lazarus {

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
void write_checkpoint(const std::filesystem::path& folder, std::int64_t step, Trainer& trainer,
                      const std::vector<BlockKey>& blocks,
                      CheckpointDamage damage = CheckpointDamage::none);

/// Replaces the blocks' contents by those of the checkpoint; step 0 is the initial state and needs
/// no file. Throws CheckpointError, also when the content does not match its recorded digest.
void read_checkpoint(const std::filesystem::path& folder, std::int64_t step, Trainer& trainer,
                     const std::vector<BlockKey>& blocks);

/// Which checkpoints are whole, and the removal of those that no fallback can want any more.
/// Follows the orders to write and the reports of the writers. The newest two whole checkpoints
/// stay, since the newest may turn out to be unreadable; what is older is deleted.
class CheckpointRetention {
  public:
    explicit CheckpointRetention(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void ordered(Step step, std::set<Worker> writers) { missing_[step] = std::move(writers); }
    void written(Step step, Worker worker);
    /// A fallback to `step`: what is newer will never be wanted, and must not count as whole.
    void forget_after(Step step) { missing_.erase(missing_.upper_bound(step), missing_.end()); }

  private:
    std::filesystem::path folder_;
    std::map<Step, std::set<Worker>> missing_;  // writers that have not reported yet
};

}  // namespace assay::lazarus
