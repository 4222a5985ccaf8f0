#include "impls/rlboost/experiments/x_exact.hpp"

#include "impls/rlboost/experiments/experiments.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::rlboost {
namespace {

ProfilePlan toy() {
    ProfilePlan plan;
    plan.provenances = {Provenance::measured};
    plan.rounds = 3;
    plan.seconds_per_sample = 3;
    plan.timeout_s = 240;
    plan.axes["task"] = {"sort"};
    return plan;
}

}  // namespace

Experiment x_exact() {
    Declaration<XExact> exact(
        {.id = "rlboost/x_exact",
         .title = "What killed rollout workers change in a training by reward",
         .source = "our own question",
         .says =
             "A small decoder over bytes is shown right answers of a task, then trained by GRPO: "
             "one process trains, others draw the samples. Workers are killed while half the "
             "samples of an update are open; another one takes each one's place. Then the same "
             "is done without kills, and weights are compared after every update. --fault adds "
             "faults: rank 0 trains, 1, 2, … roll out.",
         .metrics = declared<ExactFound>(),
         .profiles = {toy()},
         .figure = {.metric = "reward", .x = "update", .x_title = "update"},
         .takes_faults = true});
    exact.axis("task", &XExact::task, "what is asked");
    exact.axis("difficulty", &XExact::difficulty, "digits, letters or brackets",
               between(rl::tasks::least_difficulty, rl::tasks::most_difficulty));
    exact.axis("workers", &XExact::workers, "that roll out", between(1, 64));
    exact.axis("kills", &XExact::kills, "workers killed, one an update from the second on",
               between(0, 1000));
    exact.axis("updates", &XExact::updates, "updates of the weights", between(1, 10'000));
    exact.axis("prompts", &XExact::prompts, "of an update", between(1, 1000));
    exact.axis("samples", &XExact::samples, "of a prompt", between(2, 1000));
    exact.variants(&XExact::lost);
    exact.given(&XExact::faults, fault_plan_with({}));
    exact.given(&XExact::seed, &SampleSpec::seed);
    exact.given(&XExact::scratch, &SampleSpec::scratch);
    return exact.runs(train_x_exact);
}

}  // namespace assay::rlboost
