// LTE's two training stages (paper sections 3.2 and 3.3).
#pragma once

#include <functional>

#include "impls/lte/method/loss_schedule.hpp"
#include "impls/lte/method/routed_feed_forward.hpp"
#include "impls/nn/training/language_model.hpp"

namespace assay::lte {

struct Stage1Step {
    std::int64_t step = 0;
    double nll = 0;                           ///< task loss, soft mode, nats per token
    double efficiency = 0, separability = 0;  ///< Eqs. 4 and 5, averaged over layers
    double sparsity = 0;                      ///< share of scores <= tau in this batch
    LossWeights weights;
};

/// Stage 1: trains all parameters of the decoder and the routers on
/// task + eta · efficiency + lambda · separability (Eq. 6), soft mode. Resumable under the name
/// "stage1". Throws as nn::train().
void train_stage1(nn::Decoder&, Routers&, double tau, Schedule&, const nn::TokenData&,
                  const nn::LanguageModelTraining&, nn::StateKeeper&,
                  const std::function<void(const Stage1Step&)>& after = {});

/// Stage 2: routers frozen, hard mask, task loss alone; trains the decoder. Resumable as "stage2".
void train_stage2(nn::Decoder&, const Routers&, double tau, const nn::TokenData&,
                  const nn::LanguageModelTraining&, nn::StateKeeper&,
                  const nn::LossCurve& curve = {});

}  // namespace assay::lte
