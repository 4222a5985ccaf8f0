// The loop every training here runs in: AdamW, clipping, warm-up, detection of NaN and divergence,
// checkpoints from which it goes on bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

struct TrainingOptions {
    std::int64_t steps = 0;
    double learning_rate = 1e-3;
    double warmup = 0.06;        ///< share of the steps over which the rate rises from 0
    bool decay_to_zero = false;  ///< linear decay after the warm-up; else constant
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
    double clip = 1.0;  ///< global gradient norm; 0: none
    /// Divergence: the loss or the gradient is not finite, or the task loss exceeds `diverged`
    /// times its mean over the first ten steps (regularisers may grow on purpose).
    double diverged = 3.0;
};

/// The rate of update `step` (0-based): rises to learning_rate over the first `warmup` share of the
/// steps, then stays, or falls in a line that would reach 0 at `steps`.
double learning_rate(const TrainingOptions& options, std::int64_t step);

/// A training that cannot go on; the text says at which step and why. Callers record it as an event
/// of kind "divergence" and end the sample as failed.
class TrainingDiverged : public std::runtime_error {
  public:
    TrainingDiverged(std::int64_t step, double loss, const std::string& why)
        : std::runtime_error(why), step_(step), loss_(loss) {}
    std::int64_t step() const { return step_; }
    double loss() const { return loss_; }

  private:
    std::int64_t step_;
    double loss_;
};

/// Everything a training needs to go on: kept by whoever runs it (see StateKeeper).
class StateKeeper {
  public:
    virtual ~StateKeeper() = default;
    /// Saves `bytes` under `name`, atomically; a SIGKILL at any moment leaves the old or the new.
    virtual void save(const std::string& name, const std::function<void(std::ostream&)>& write) = 0;
    /// Calls `read` with what was saved under the name; false: nothing there.
    virtual bool load(const std::string& name, const std::function<void(std::istream&)>& read) = 0;
    /// While what is returned lives, whoever asks for the same name waits: of several trainings
    /// that want one state, the first makes it and the others find it. Null: nobody shares it.
    virtual std::shared_ptr<void> hold(const std::string& name) = 0;
};

/// Keeps nothing.
class NoState : public StateKeeper {
  public:
    void save(const std::string&, const std::function<void(std::ostream&)>&) override {}
    bool load(const std::string&, const std::function<void(std::istream&)>&) override {
        return false;
    }
    std::shared_ptr<void> hold(const std::string&) override { return nullptr; }
};

struct TrainingStep {
    at::Tensor loss;       ///< scalar, with graph: mean over tokens
    double task_loss = 0;  ///< nats per token, without regularisers; for the curve
};

struct TrainingCallbacks {
    /// The loss of step `step` (0-based), a function of the step and the parameters alone.
    std::function<TrainingStep(std::int64_t step)> loss;
    /// In place of a backward pass from the loss: puts into the gradients of the blocks, which are
    /// zero, what the update follows. May be empty.
    std::function<void(std::int64_t step, const TrainingStep&)> backward;
    /// After each update: progress, curves, controllers. May be empty.
    std::function<void(std::int64_t step, const TrainingStep&)> after;
    /// State of the caller that a checkpoint must carry (controller, curve). May be empty.
    std::function<nlohmann::json()> save_extra;
    std::function<void(const nlohmann::json&)> load_extra;
};

/// A block, and how much faster than TrainingOptions::learning_rate it learns. A bare block learns
/// at that rate; with a factor of 1 everywhere bits and checkpoints are those of bare blocks.
struct TrainedBlock {
    TrainedBlock(ParameterBlock* trained, double factor = 1)
        : block(trained), rate_factor(factor) {}
    ParameterBlock* block;
    double rate_factor;
};

/// Euclidean norm of the gradients of all blocks together.
double gradient_norm(const std::vector<TrainedBlock>& blocks);

/// Trains `blocks` (all of them, every step). `name` is the training's name in the keeper, unique
/// within a sample ("base", "stage1"). A checkpoint is saved every `checkpoint_every` steps (0:
/// never) and at the end; when one is there, training goes on from it, and its state and curves are
/// bit for bit those of an uninterrupted run (same thread count, same build). When none is there,
/// the blocks' values are where it starts and their moments are set to zero, whatever was trained
/// before.
/// Throws TrainingDiverged, UserError for a checkpoint that does not belong to these blocks and
/// options.
void train(const std::string& name, std::vector<TrainedBlock> blocks,
           const TrainingOptions& options, const TrainingCallbacks& callbacks, StateKeeper& keeper,
           std::int64_t checkpoint_every);

}  // namespace assay::nn
