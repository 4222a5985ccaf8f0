// Our own addition: may target rows that a set did not see choose it?
#include "impls/dr_post_training/experiments/training_experiments.hpp"

namespace assay::dr_post_training {

Experiment x_choose() {
    Experiment experiment = sft_perplexity();
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
    return experiment;
}

}  // namespace assay::dr_post_training
