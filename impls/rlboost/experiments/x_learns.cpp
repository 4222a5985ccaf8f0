#include "impls/rlboost/experiments/x_learns.hpp"

#include "impls/rlboost/experiments/experiments.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::rlboost {
namespace {

ProfilePlan toy() {
    ProfilePlan plan;
    plan.provenances = {Provenance::measured};
    plan.rounds = 3;
    plan.seconds_per_sample = 40;
    plan.timeout_s = 240;
    plan.axes["task"] = {"sort"};
    return plan;
}

}  // namespace

Experiment x_learns() {
    Declaration<XLearns> learns(
        {.id = "rlboost/x_learns",
         .title = "Whether a training by reward teaches a task",
         .source = "our own question",
         .says =
             "A small decoder over bytes is shown right answers until it gives a share of them "
             "itself, then trained by reward on other prompts of the task, over processes; "
             "accuracy is that of its likeliest answers to prompts that no training sees. grpo, "
             "dr_grpo: rewards of its own samples; shuffled: these rewards, dealt out at random; "
             "sft: right answers to as many questions instead. --fault: rank 0 trains, 1, 2, … "
             "roll out.",
         .metrics = declared<LearnsFound>(),
         .profiles = {toy()},
         .figure = {.metric = "reward", .x = "update", .x_title = "update"},
         .takes_faults = true});
    learns.axis("task", &XLearns::task, "what is asked");
    learns.axis("difficulty", &XLearns::difficulty, "digits, letters or brackets",
                between(2, rl::tasks::most_difficulty));
    learns.axis("workers", &XLearns::workers, "that roll out", between(1, 64));
    learns.axis("updates", &XLearns::updates, "updates of the weights", between(1, 10'000));
    learns.axis("prompts", &XLearns::prompts, "of an update", between(1, 1000));
    learns.axis("samples", &XLearns::samples, "of a prompt", between(2, 1000));
    learns.axis("start", &XLearns::start, "accuracy at which learning by reward begins",
                between(0.0, 1.0));
    learns.axis("rate", &XLearns::rate, "of Adam", between(0.0, 1.0));
    learns.variants(&XLearns::learner);
    learns.given(&XLearns::faults, fault_plan_with({}));
    learns.given(&XLearns::seed, &SampleSpec::seed);
    learns.given(&XLearns::scratch, &SampleSpec::scratch);
    return learns.runs(train_x_learns);
}

}  // namespace assay::rlboost
