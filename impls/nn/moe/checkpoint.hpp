// Checkpoints on disk: one file per block of state, written by the worker that owns the block.
// FOLDER/step-N/<block>.state: a header line, then the bytes of values and both moments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "impls/nn/moe/checkpoint_retention.hpp"
#include "impls/nn/moe/state.hpp"

namespace assay::nn {

/// A missing, foreign or torn checkpoint file; the text names it.
class CheckpointError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

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

}  // namespace assay::nn
