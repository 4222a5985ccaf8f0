// The gradients of one step: plain, with rows chosen on the way back, or in two passes (§2.2).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "impls/dr_post_training/method/readings.hpp"
#include "impls/dr_post_training/method/selecting_maps.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/row_batch.hpp"

namespace assay::dr_post_training {

/// Shares of rows with so many scored tokens in the mean; they sum to 1.
std::vector<double> shares_of(const std::vector<std::int64_t>& scored_tokens, LossMean mean);

/// one_pass: gradients are put together during, or at the end of, the backward pass that scores.
/// two_pass: the first only scores, the second runs over the rows that were chosen.
enum class Schedule { one_pass, two_pass };

/// What stands between a decoder and the maps of a step: adapters, say. Gets the maps that use
/// parameters, and returns those that the decoder is to call. May be empty.
using Adapt = std::function<std::unique_ptr<nn::Maps>(nn::Maps&)>;

/// The forward pass of a step is made by the constructor, backward() puts the gradients into the
/// leaves, which must be zero.
class TrainingStep {
  public:
    virtual ~TrainingStep() = default;
    /// Mean loss, nats, by shares: of the general rows where target rows steer, else of all that
    /// the step learns from.
    double loss() const { return loss_; }
    virtual void backward() = 0;

  protected:
    double loss_ = 0;
};

struct StepModel {
    const nn::Decoder& decoder;
    at::ScalarType compute = at::kFloat;
    LossMean mean = LossMean::token;
    Adapt adapt;
};

/// All rows teach everything.
std::unique_ptr<TrainingStep> plain_step(const StepModel&, const std::vector<nn::ScoredRow>& rows);

/// General rows that are chosen by target rows. `maps` keeps the decisions of the last step. Under
/// two_pass all maps must be of one group, and choose without weighing the target.
std::unique_ptr<TrainingStep> selecting_step(const StepModel&, SelectingMaps& maps,
                                             Schedule schedule,
                                             const std::vector<nn::ScoredRow>& general,
                                             const std::vector<nn::ScoredRow>& target,
                                             bool head_chooses = false,
                                             Targets targets = Targets::merged);

}  // namespace assay::dr_post_training
