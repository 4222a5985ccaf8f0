// Our own addition: may target rows that a set did not see choose it?
#include <fmt/format.h>

#include <utility>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

/// Refuses what the arms would train by and the judgement of their sets would not.
void check_choosing(const FineTuning& tuning) {
    if (tuning.model == "smollm2")
        throw UserError(
            "model smollm2: sets are judged by the model's own gradients, and it is "
            "fine-tuned by adapters");
    if (tuning.tuning != Trained::full)
        throw UserError(
            fmt::format("tuning {}: sets are judged by the model's own gradients; "
                        "leave tuning full",
                        to_string(tuning.tuning)));
    if (tuning.similarity == Similarity::as_published)
        throw UserError(
            "similarity as_published: sets are judged by right products; leave it corrected");
    if (tuning.rule != SetKind::topk)
        throw UserError(
            fmt::format("rule {}: the sets that are judged take the rows with the "
                        "largest scores; leave rule topk",
                        to_string(tuning.rule)));
}

}  // namespace

Experiment x_choose() {
    Experiment experiment = fine_tuning(
        "x_choose", "A constraint set chosen by leaving target rows out, against fixed ones",
        "our own: on the models of sft_perplexity");
    experiment.says +=
        " Under choose, every 25 steps each set makes its update of four batches without one of "
        "the given target rows at a time, and is judged by how far a step of length 1 goes in that "
        "row's direction; the set with the largest sum since the start trains the next 25 steps. "
        "The others keep theirs from start to end.";
    experiment.metrics = declared<DelegatedFound>();
    return with_arms(std::move(experiment),
                     {"choose", "full", "global", "block", "sublayer", "layer", "simplex", "cone",
                      "subspace", "ball", "a_gem", "target"},
                     {}, check_choosing);
}

}  // namespace assay::dr_post_training
