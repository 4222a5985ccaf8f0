// The references of a training with groups, faults and moves: the recorded layouts with nobody
// killed, and one process without any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "impls/hetermoe/policy/controller/protocol.hpp"
#include "impls/hetermoe/training/trainer.hpp"

namespace assay::hetermoe {

/// Of the state that each worker of the last step holds after it.
using StateDigests = std::map<Worker, std::map<BlockKey, std::uint64_t>>;

/// A training whose layouts change by plan. Workers are threads of this process; a worker that
/// needs a block copies it from any holder of the step before.
class PlannedTraining {
  public:
    PlannedTraining(TrainingSettings settings, const nn::ByteCorpus& corpus)
        : settings_(std::move(settings)), corpus_(corpus) {}
    /// Steps come in order, 0 first. Throws std::logic_error when a block has no holder left.
    /// `before`: of every task of every rank, by its thread.
    StepResult train(const CommittedStep& step,
                     const std::function<void(int rank, const Task&)>& before = {});
    StateDigests digests() const;
    /// Any holder's; null: nobody has it.
    const nn::ParameterBlock* find(BlockKey key) const;

  private:
    void rearrange(const CommittedStep& step);
    TrainingSettings settings_;
    const nn::ByteCorpus& corpus_;
    std::map<Worker, std::unique_ptr<Trainer>> trainers_;
};

/// The same model in one process: every expert is here, autograd is not cut, no row travels.
class OneProcess {
  public:
    OneProcess(TrainingSettings settings, const nn::ByteCorpus& corpus);
    /// The micro-batches of `layout`, one after the other, and the update. Returns the mean loss in
    /// nats per token.
    double train(std::int64_t step, const Layout& layout);
    const nn::MoeState& state() const { return state_; }

  private:
    TrainingSettings settings_;
    const nn::ByteCorpus& corpus_;
    nn::MoeState state_;
};

/// The largest, over all blocks, of |ours - reference| / |reference|, Euclidean norms of a block's
/// values. Infinite where one of them is not finite.
double largest_difference(const PlannedTraining& ours, const nn::MoeState& reference);

/// True when every worker in `live` holds exactly what it holds in `replayed`, and together they
/// hold every block.
bool agrees(const StateDigests& live, const StateDigests& replayed);

}  // namespace assay::hetermoe
