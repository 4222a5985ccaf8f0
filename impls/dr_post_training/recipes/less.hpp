// LESS (arXiv 2402.04333): rows chosen before the training, by how Adam would follow their
// gradients in a short training on all of them.
#pragma once

#include <cstdint>

#include "impls/dr_post_training/recipes/arms.hpp"

namespace assay::dr_post_training {

/// A short plain training on the first tenth of the run's batches, at the second of the rates; at
/// its middle and its end, each row of the run's batches is worth the cosine between the update
/// that Adam, with its moments then, would make of the row's gradient, and the mean gradient of the
/// given target rows; cosines add up, by the rate then. The twentieth of the rows that is worth
/// most is kept. Gradients are of everything that is trained, as they are (LESS trains adapters and
/// projects their gradients, to store them).
Preparation chosen_by_less(const SftSettings&, const SftRows&, const nn::Decoder& base,
                           std::uint64_t seed);

/// <Γ, v> / (|Γ|·|v|) for Adam's next step Γ = m̂/(√v̂ + ε), its moments taken on by g. Blocks hold
/// the row's gradient; `target` is v of each; t: number of the next update.
double adam_cosine(const std::vector<nn::TrainedBlock>& blocks,
                   const std::vector<at::Tensor>& target, std::int64_t t,
                   const nn::AdamOptions& adam);

}  // namespace assay::dr_post_training
