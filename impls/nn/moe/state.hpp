// The state of a mixture of experts in training, or the part of it that is held here: blocks of
// parameters and moments, each with a seal that tells damage.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "impls/nn/moe/block_key.hpp"
#include "impls/nn/moe/gpt.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

class MoeState {
  public:
    /// Holds nothing yet. `seed`: of the initial values.
    MoeState(const MoeGptConfig& model, std::uint64_t seed, const Placement& placement = {})
        : model_(model), seed_(seed), placement_(placement) {}
    MoeState(MoeState&&) = default;

    ParameterBlock& make_initial(BlockKey key);  ///< as at step 0
    ParameterBlock& make_or_get(BlockKey key);   ///< contents unspecified when new
    /// A block of the caller's making, for states that nobody checks for damage: it has no seal.
    void adopt(BlockKey key, std::unique_ptr<ParameterBlock> block);
    std::unique_ptr<ParameterBlock> release(BlockKey key);  ///< null: it is not held here
    ParameterBlock* find(BlockKey key);
    const ParameterBlock* find(BlockKey key) const;
    void drop_all_but(const std::vector<BlockKey>& keep);
    std::vector<BlockKey> keys() const;
    std::map<BlockKey, std::uint64_t> digests() const;
    const MoeGptConfig& model() const { return model_; }
    const Placement& placement() const { return placement_; }

    void zero_gradients();
    /// Applies the gradients of every block held as those of `step` (0-based), and seals the
    /// blocks.
    void update(std::int64_t step, const AdamOptions& adam);
    /// A block whose gradient is not finite.
    std::optional<BlockKey> not_finite() const;

    // ---- damage, done and found ----------------------------------------------------------------
    /// One bit of one tensor of one block held here, all drawn from `seed`. Returns the block, or
    /// nothing when none is held.
    std::optional<BlockKey> flip_bit_of_state(std::uint64_t seed);
    /// Compares every block with the digest taken when it was last written on purpose (initial
    /// state, update, transfer, restore). Returns the first that differs.
    std::optional<BlockKey> corrupted_block() const;
    /// To be called after a block's state was written from outside (transfer, restore). Where the
    /// writer knows the digest that the state should have, it says so: a difference is then found.
    void seal(BlockKey key);
    void seal(BlockKey key, std::uint64_t digest);
    /// The digest of a block held here, as it was when it was last written on purpose.
    std::uint64_t sealed(BlockKey key) const { return seals_.at(key); }

  private:
    MoeGptConfig model_;
    std::uint64_t seed_;
    Placement placement_;
    std::map<BlockKey, std::unique_ptr<ParameterBlock>> blocks_;
    std::map<BlockKey, std::uint64_t> seals_;
};

}  // namespace assay::nn
