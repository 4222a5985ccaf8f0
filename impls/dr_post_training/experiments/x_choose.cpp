// Our own addition: may target rows that a set did not see choose it?
#include <fmt/format.h>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/recipes/settings.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

/// Refuses what the arms would train by and the judgement of their sets would not.
void validate_choosing(const SampleSpec& spec) {
    const std::string model = word_axis(spec, "model", "llama-toy");
    if (model == "smollm2")
        throw UserError(
            "model smollm2: sets are judged by the model's own gradients, and it is "
            "fine-tuned by adapters");
    const SftSettings settings = sft_settings(spec);
    if (settings.tuning != "full")
        throw UserError(
            fmt::format("tuning {}: sets are judged by the model's own gradients; "
                        "leave tuning full",
                        settings.tuning));
    if (settings.as_published)
        throw UserError(
            "similarity as_published: sets are judged by right products; leave it corrected");
    if (settings.rule != "topk")
        throw UserError(
            fmt::format("rule {}: the sets that are judged take the rows with the "
                        "largest scores; leave rule topk",
                        settings.rule));
}

}  // namespace

Experiment x_choose() {
    Experiment experiment = equal_steps_at_toy();
    experiment.id = "dr_post_training/x_choose";
    experiment.title = "A constraint set chosen by leaving target rows out, against fixed ones";
    experiment.source = "our own: on the models of sft_perplexity";
    experiment.says +=
        " Under choose, every 25 steps each set makes its update of four batches without one of "
        "the given target rows at a time, and is judged by how far a step of length 1 goes in that "
        "row's direction; the set with the largest sum since the start trains the next 25 steps. "
        "The others keep theirs from start to end.";
    experiment.variants = {"choose",  "full", "global",   "block", "sublayer", "layer",
                           "simplex", "cone", "subspace", "ball",  "a_gem",    "target"};
    experiment.metrics.push_back({"steps_as",
                                  "count",
                                  "steps that choose trained by each fixed arm",
                                  Direction::none,
                                  true,
                                  {"arm"}});
    experiment.validate = validate_choosing;
    return experiment;
}

}  // namespace assay::dr_post_training
