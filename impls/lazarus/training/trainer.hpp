// One worker's share of the training: the state it holds, and a step on it. Knows nothing of
// processes, controllers or faults; the live worker and the oracle drive it alike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "impls/lazarus/training/batch_rule.hpp"
#include "impls/lazarus/training/step_hooks.hpp"
#include "impls/nn/moe_gpt.hpp"
#include "impls/nn/parameter_block.hpp"
#include "impls/nn/training/corpus.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::lazarus {

/// A unit of state: (layer, expert), or dense_key for everything that is not an expert.
using BlockKey = std::pair<int, int>;
inline constexpr BlockKey dense_key{-1, -1};
std::string block_name(const BlockKey& key);

struct TrainingConfig {
    nn::MoeGptConfig model;
    nn::AdamOptions adam;
    int sequences = 4;       ///< per worker and forward pass
    BatchRule batch;         ///< by default the global batch follows the number of workers
    std::uint64_t seed = 1;  ///< of the initial state and of the data
    std::string corpus;      ///< file of text

    /// Above 0: fixed expert parallelism (DeepSpeed-MoE): tokens go to the holder of their expert
    /// in the sender's own group of this many ranks (policy/rivals/expert_parallel.hpp says which),
    /// and every (source, expert) slice is padded with zero rows to the largest one of the layer
    /// and group. 0: the flexible dispatcher.
    int group = 0;
    /// Empty: the model's own gates. Else a routing trace ("synthetic", or a file in the form of
    /// routing_trace.hpp) is replayed as in the paper: choices are drawn from the loads of the
    /// model's experts, a function of (seed, step, layer, global row) alone.
    std::string routing;
    /// Training step s replays iteration s · modelled_steps + 1 of the trace (the nearest one at or
    /// before it).
    std::int64_t modelled_steps = 1;

    RoutingSource routing_source() const {
        return {routing, seed, modelled_steps, model.layers, model.experts};
    }
};

struct StepResult {
    double loss = 0;           ///< mean nats per token over the global batch; equal on every rank
    std::vector<Loads> loads;  ///< global tokens per expert of each layer; equal on every rank
    /// Empty, or what is not finite on this rank: its loss, or the sums of a block it holds.
    std::string not_finite;
};

class Trainer {
  public:
    /// Throws UserError when the routing that `config` wants replayed is not to be had.
    Trainer(TrainingConfig config, const nn::ByteCorpus& corpus);
    ~Trainer();
    Trainer(Trainer&&) noexcept;

    // ---- state ---------------------------------------------------------------------------------
    nn::ParameterBlock& make_initial(BlockKey key);  ///< as at step 0
    nn::ParameterBlock& make_or_get(BlockKey key);   ///< contents unspecified when new
    nn::ParameterBlock* find(BlockKey key);
    void drop_all_but(const std::vector<BlockKey>& keep);
    std::vector<BlockKey> keys() const;
    std::map<BlockKey, std::uint64_t> digests() const;

    // ---- steps ---------------------------------------------------------------------------------
    /// Forward, backward, reduction; the sums are in the blocks' gradients afterwards, the state is
    /// untouched. holders[layer][rank]. Of a batch that is computed in several passes the hooks
    /// and `trace` see each. Collective. Throws cluster::CommunicatorBroken.
    StepResult compute(std::int64_t step, const ModelPlacement& holders,
                       cluster::Communicator& comm, const StepHooks& hooks = {},
                       nn::GateTrace* trace = nullptr);
    /// Applies the gradients of `step` (0-based), the last one computed, to every block held.
    /// Throws std::logic_error when compute() found something here that is not finite.
    void apply(std::int64_t step);

    // ---- damage, done and found ----------------------------------------------------------------
    void poison_next_step();  ///< one activation of the next compute() becomes NaN
    /// One bit of one tensor of one block held here, all drawn from `seed`. Returns the block, or
    /// nothing when none is held.
    std::optional<BlockKey> flip_bit_of_state(std::uint64_t seed);
    /// Compares every block with the digest taken when it was last written on purpose (initial
    /// state, apply, transfer, restore). Returns the first that differs.
    std::optional<BlockKey> corrupted_block() const;
    /// To be called after a block's state was written from outside (transfer, restore). Where the
    /// writer knows the digest that the state should have, it says so: a difference is then found.
    void seal(BlockKey key);
    void seal(BlockKey key, std::uint64_t digest);
    /// The digest of a block held here, as it was when it was last written on purpose.
    std::uint64_t sealed(BlockKey key) const { return seals_.at(key); }

    const TrainingConfig& config() const { return config_; }

  private:
    nn::ForcedChoice forced_choice(std::int64_t step, std::int64_t first_sequence) const;
    void reduce_gradients(const ModelPlacement& holders, cluster::Communicator& comm);
    std::string find_not_finite(double loss) const;

    TrainingConfig config_;
    const nn::ByteCorpus& corpus_;
    std::unique_ptr<const RoutingReplay> routing_;  // null: the model's own gates
    std::map<BlockKey, std::unique_ptr<nn::ParameterBlock>> blocks_;
    std::map<BlockKey, std::uint64_t> seals_;
    std::string not_finite_;  // of the last compute()
    bool poisoned_ = false;
    int ranks_ = 0;  // of the last compute()
};

/// The blocks that rank `rank` of `holders` is to hold, dense_key first.
std::vector<BlockKey> blocks_of(const ModelPlacement& holders, int rank);

}  // namespace assay::lazarus
