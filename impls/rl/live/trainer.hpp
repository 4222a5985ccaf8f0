// A trainer in a process of its own: it is shown right answers, then makes an update of each
// message's rows, and writes the weights that come of it.
#pragma once

#include "impls/nn/decoder.hpp"
#include "impls/rl/live/messages.hpp"
#include "impls/rl/recipes/update.hpp"
#include "suite/drive/driver.hpp"

namespace assay::rl {

class Trainer {
  public:
    /// With weights of version 1. Throws UserError where they cannot be written.
    explicit Trainer(const TrainerSettings& settings);
    const Weights& weights() const { return weights_; }
    /// One step of Adam; the old log-probabilities are its own (GRPO with one update a batch: the
    /// ratio is 1). Throws std::runtime_error where a gradient is not finite.
    const Weights& update(const Update& update);

    nn::Decoder& policy() { return policy_; }

  private:
    void show_answers();
    void write();

    TrainerSettings settings_;
    nn::Decoder policy_;
    Updater updater_;
    Weights weights_;
};

/// Its workers are configured with TrainerSettings. One thread: the same bits whatever the machine
/// has.
drive::Role trainer_role();

}  // namespace assay::rl
