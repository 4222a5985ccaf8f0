// What of a model is trained: all of it, adapters beside it (LoRA), or all of it with moments in
// subspaces (MeSO). Whatever chooses the rows, chooses them the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::dr_post_training {

class Tuning {
  public:
    virtual ~Tuning() = default;
    /// What updates move.
    virtual std::vector<nn::TrainedBlock> blocks() = 0;
    /// What the gradients of a step run through; valid as long as this object.
    virtual Adapt adapt() { return {}; }
    /// The same for rows that are judged before they are trained on: without dropout.
    virtual Adapt judging() { return adapt(); }
    /// Before the forward pass of a step (0-based), and after its update.
    virtual void begin(std::int64_t) {}
    virtual void updated() {}
    /// The model with what it has learnt, for evaluation. `plain` must outlive it.
    virtual std::unique_ptr<nn::Maps> learnt(nn::Maps& plain);
    /// Whether blocks() is all that a training needs to go on.
    virtual bool resumable() const { return true; }
};

/// By settings.readings.tuning. `decoder` must outlive it, and is what is trained or stays as it
/// is.
std::unique_ptr<Tuning> make_tuning(const SftSettings& settings, nn::Decoder& decoder,
                                    std::uint64_t seed);

}  // namespace assay::dr_post_training
