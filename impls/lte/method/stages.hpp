// LTE's two training stages (paper sections 3.2 and 3.3).
#pragma once

#include <functional>
#include <optional>

#include "impls/lte/method/loss_schedule.hpp"
#include "impls/lte/method/routed_feed_forward.hpp"
#include "impls/nn/training/language_model.hpp"

namespace assay::lte {

/// Ours, where the paper is silent or was too slow a start for us; the defaults are its text.
struct Stage1Options {
    double tau = 0.5;
    double router_rate = 1;  ///< learning rate of the routers over the decoder's
    /// Separability moves the routers alone, on inputs cut off from the decoder.
    bool detached_separability = false;
    /// Steps, evenly spread from the first to the last, at which the losses' gradients are told
    /// apart; two more backward passes each.
    int probes = 0;
};

/// Norms of the gradients of the task loss and of lambda · separability, before clipping, in the
/// decoder and in the routers.
struct LossGradients {
    double task_trunk = 0, task_routers = 0;
    double separability_trunk = 0, separability_routers = 0;
};

struct Stage1Step {
    std::int64_t step = 0;
    double nll = 0;                           ///< task loss, soft mode, nats per token
    double efficiency = 0, separability = 0;  ///< Eqs. 4 and 5, averaged over layers
    double sparsity = 0;                      ///< share of scores <= tau in this batch
    LossWeights weights;
    std::optional<LossGradients> gradients;  ///< at the steps that are probed
};

/// Stage 1: trains all parameters of the decoder and the routers on
/// task + eta · efficiency + lambda · separability (Eq. 6), soft mode. Resumable under the name
/// "stage1". Throws as nn::train().
void train_stage1(nn::Decoder&, Routers&, const Stage1Options&, Schedule&, const nn::TokenData&,
                  const nn::LanguageModelTraining&, nn::StateKeeper&,
                  const std::function<void(const Stage1Step&)>& after = {});

/// Stage 2: routers frozen, hard mask, task loss alone; trains the decoder. Resumable as "stage2".
void train_stage2(nn::Decoder&, const Routers&, double tau, const nn::TokenData&,
                  const nn::LanguageModelTraining&, nn::StateKeeper&,
                  const nn::LossCurve& curve = {});

}  // namespace assay::lte
