// Figs. 12 and 14: Tutel on sixteen cloud nodes, one of them lost every 5 minutes.
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/trainings/controlled_training.hpp"

namespace assay::lazarus {
namespace {

ControlledTraining on_cloud_nodes() {
    ControlledTraining training;
    training.failures = {.nodes = 16, .left = 8, .every_s = 5 * 60};
    training.cluster = "lazarus-aws";
    training.accumulation = 20;
    training.says =
        "The rivals are Tutel-like expert parallelism with restart from checkpoints every 50 steps "
        "(tutel) and the same with Lazarus' recovery and checkpoints every 250 (tutel_ft). "
        "Gradients are summed and applied once per 20 steps; a step is one of the 20, in the "
        "intervals of checkpoints and rebalances too: 50 updates would take longer than 5 minutes, "
        "and no restart would ever find a checkpoint. That failures go on until half of the nodes "
        "are left is as in Fig. 6; the paper does not say.";
    return training;
}

}  // namespace

Experiment fig12() {
    ControlledTraining training = on_cloud_nodes();
    training.id = "lazarus/fig12";
    training.title = "Against Tutel, a node lost every 5 minutes: samples kept per second";
    training.source = "arXiv 2407.04656v2, section 6.6, Fig. 12";
    training.systems = {"lazarus", "tutel_ft", "tutel"};
    return controlled_experiment(std::move(training));
}

Experiment fig14() {
    ControlledTraining training = on_cloud_nodes();
    training.id = "lazarus/fig14";
    training.title = "Against Tutel, idle nodes lost first: samples kept per second";
    training.source = "arXiv 2407.04656v2, supplement, Fig. 14";
    training.says +=
        " Whoever tutel_ft left idle is lost before anybody else, so that it notices a failure "
        "every 10 minutes only (GPT-L: every 20).";
    training.systems = {"lazarus", "tutel_ft"};
    training.idle_first = "tutel_ft";
    return controlled_experiment(std::move(training));
}

}  // namespace assay::lazarus
