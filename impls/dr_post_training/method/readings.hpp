// What the specification leaves open of a step, and the ways to read it. Torch-free.
#pragma once

#include <cstddef>

#include "impls/dr_post_training/policy/costs.hpp"
#include "impls/dr_post_training/policy/sets/constraint_set.hpp"

namespace assay::dr_post_training {

/// What is trained: the model, adapters beside it (LoRA), the model with moments in subspaces
/// (MeSO).
enum class Trained { full, lora, meso };
ASSAY_NAMES(Trained, full, lora, meso)

/// What the mean over rows is taken of: tokens, so that long answers count more (the authors' code
/// at first), or rows (later).
enum class LossMean { token, example };
ASSAY_NAMES(LossMean, token, example)

/// What greedy and exact multiply products of general rows with; as_published: with the square of
/// the scores' factor (the authors' code at first).
enum class Similarity { corrected, as_published };
ASSAY_NAMES(Similarity, corrected, as_published)

/// Whether the head learns from all general rows or chooses like any other map.
enum class HeadRows { all, selected };
ASSAY_NAMES(HeadRows, all, selected)

/// merged: target rows run through the model with the general ones. cached: before them, alone, and
/// every map keeps what it scores against. The same gradients (without dropout), up to rounding.
enum class Targets { merged, cached };
ASSAY_NAMES(Targets, merged, cached)

/// Of a fine-tuning; the first reading of each is the default.
struct Readings {
    Trained tuning{};
    LossMean loss{};
    SetKind rule = SetKind::topk;  ///< or greedy, exact
    Similarity similarity{};
    HeadRows head{};
    Targets target{};
    Scoring backend = Scoring::pip;
    std::size_t m = 1;  ///< target rows of a step
};
ASSAY_FIELDS(Readings, tuning, loss, rule, similarity, head, target, backend, m)

}  // namespace assay::dr_post_training
