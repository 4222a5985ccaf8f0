// One worker's share of the training: the state it holds, and a step on it. Knows nothing of
// processes, controllers or faults; the live worker and the oracle drive it alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "impls/lazarus/training/batch_rule.hpp"
#include "impls/lazarus/training/step_hooks.hpp"
#include "impls/nn/moe/gpt.hpp"
#include "impls/nn/moe/state.hpp"
#include "impls/nn/training/corpus.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::lazarus {

using nn::block_name;
using nn::BlockKey;
using nn::dense_key;

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

/// It is the state it holds: what moves, checkpoints or damages state takes it as such.
class Trainer : public nn::MoeState {
  public:
    /// Throws UserError when the routing that `config` wants replayed is not to be had.
    Trainer(TrainingConfig config, const nn::ByteCorpus& corpus);
    ~Trainer();
    Trainer(Trainer&&) noexcept;

    /// Forward, backward, reduction; the sums are in the blocks' gradients afterwards, the state is
    /// untouched. holders[layer][rank]. Of a batch that is computed in several passes the hooks
    /// and `trace` see each. Collective. Throws cluster::CommunicatorBroken.
    StepResult compute(std::int64_t step, const ModelPlacement& holders,
                       cluster::Communicator& comm, const StepHooks& hooks = {},
                       nn::GateTrace* trace = nullptr);
    /// Applies the gradients of `step` (0-based), the last one computed, to every block held.
    /// Throws std::logic_error when compute() found something here that is not finite.
    void apply(std::int64_t step);

    void poison_next_step();  ///< one activation of the next compute() becomes NaN

    const TrainingConfig& config() const { return config_; }

  private:
    nn::ForcedChoice forced_choice(std::int64_t step, std::int64_t first_sequence) const;
    void reduce_gradients(const ModelPlacement& holders, cluster::Communicator& comm);
    std::string find_not_finite(double loss) const;

    TrainingConfig config_;
    const nn::ByteCorpus& corpus_;
    std::unique_ptr<const RoutingReplay> routing_;  // null: the model's own gates
    std::string not_finite_;                        // of the last compute()
    bool poisoned_ = false;
    int ranks_ = 0;  // of the last compute()
};

/// The blocks that rank `rank` of `holders` is to hold, dense_key first.
std::vector<BlockKey> blocks_of(const ModelPlacement& holders, int rank);

}  // namespace assay::lazarus
