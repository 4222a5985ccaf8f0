// A training whose members come and go by plan, with nobody killed. Workers are threads of this
// process; state moves from whoever holds it to whoever needs it.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <span>

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "impls/lazarus/training/trainer.hpp"

namespace assay::lazarus {

/// Digests of the state that each worker of the last step holds after it.
using StateDigests = std::map<Worker, std::map<BlockKey, std::uint64_t>>;

class PlannedTraining {
  public:
    /// `corpus` must outlive it. Throws as Trainer does.
    PlannedTraining(TrainingConfig config, const nn::ByteCorpus& corpus);

    /// Gives the members of `step` what they are to hold, computes it and applies it. Steps come in
    /// order. Throws std::logic_error when a block has no holder left.
    StepResult train(const CommittedStep& step);

    /// Mean cross entropy (nats per token) of the model as it is now, over windows
    /// [sequences, context + 1], int64. Without gradients; changes nothing.
    double loss_on(std::span<const at::Tensor> windows) const;

    StateDigests digests() const;

  private:
    void rearrange(const CommittedStep& step);
    const nn::ParameterBlock* find_block(BlockKey key) const;

    TrainingConfig config_;
    const nn::ByteCorpus& corpus_;
    std::map<Worker, std::unique_ptr<Trainer>> trainers_;
};

}  // namespace assay::lazarus
