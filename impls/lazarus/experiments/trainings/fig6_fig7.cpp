// Figs. 6 and 7: one node lost every 5 or 40 minutes, ten down to five.
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/trainings/controlled_training.hpp"

namespace assay::lazarus {
namespace {

ControlledTraining on_the_testbed() {
    ControlledTraining training;
    training.systems = {"lazarus", "ds_ft", "ds"};
    training.cluster = "lazarus-testbed";
    return training;
}

}  // namespace

Experiment fig6() {
    ControlledTraining training = on_the_testbed();
    training.id = "lazarus/fig6";
    training.title = "A node lost every 5 minutes: samples per second that no restart undid";
    training.source = "arXiv 2407.04656v2, section 6.2, Fig. 6";
    training.says =
        "The rivals are DeepSpeed-MoE with restart from checkpoints every 50 steps (ds) and the "
        "same with Lazarus' recovery and checkpoints every 250 (ds_ft).";
    training.failures = {.nodes = 10, .left = 5, .every_s = 5 * 60};
    return controlled_experiment(std::move(training));
}

Experiment fig7() {
    ControlledTraining training = on_the_testbed();
    training.id = "lazarus/fig7";
    training.title = "A node lost every 40 minutes: samples per second that no restart undid";
    training.source = "arXiv 2407.04656v2, section 6.2, Fig. 7";
    training.says =
        "The rivals are DeepSpeed-MoE with restart from checkpoints every 200 steps (ds) and the "
        "same with Lazarus' recovery and checkpoints every 1000 (ds_ft).";
    training.failures = {.nodes = 10, .left = 5, .every_s = 40 * 60};
    training.checkpoint_times = 4;
    return controlled_experiment(std::move(training));
}

}  // namespace assay::lazarus
