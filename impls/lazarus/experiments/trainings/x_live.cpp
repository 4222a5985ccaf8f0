// A mixture-of-experts model trains across real processes while some of them are killed, frozen,
// asked to leave, and others join. What is measured: whether training goes on, what is lost, how
// long each recovery takes, and whether the final state equals, bit for bit, that of a run in which
// the same members came and went by plan.
#include <fmt/format.h>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/trainings/x_live.hpp"
#include "impls/lazarus/live/fault_phases.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::lazarus {
namespace {

// What the controller would only find out in the middle of the training.
void check(const LiveTraining& live) {
    if (std::int64_t{live.workers} * live.slots < live.experts)
        throw UserError(fmt::format(
            "{} workers with {} slots each cannot hold {} experts; raise workers or slots",
            live.workers, live.slots, live.experts));
    check_training_faults(live.faults, live.workers, live.steps, fault_phases());
}

ProfilePlan toy() {
    ProfilePlan plan;
    plan.provenances = {Provenance::measured};
    plan.seconds_per_sample = 15;
    plan.bytes_per_sample = 60e3;
    plan.timeout_s = 300;
    return plan;
}

}  // namespace

Experiment x_live() {
    Declaration<LiveTraining> live(
        {.id = "lazarus/x_live",
         .title = "A live training under kills, hangs, departures and joins",
         .source = "arXiv 2407.04656v2, sections 3, 4.3 and 5",
         .says =
             "A byte-level GPT whose feed-forward layers are mixtures of experts (top-1 gate, "
             "Adam) "
             "trains on real text across worker processes. A fault plan strikes; the controller "
             "discards the interrupted step, plans anew for the survivors, moves missing expert "
             "states "
             "between them and goes on. Afterwards the recorded membership is replayed with nobody "
             "killed, and weights and moments of both runs are compared bit for bit. Differs from "
             "the "
             "paper: CPU processes and Gloo instead of GPUs and NCCL, a model of toy size, real "
             "gates "
             "instead of replayed ones.",
         .variants = {"lazarus"},
         .metrics = declared<LiveFound>(),
         .profiles = {toy()},
         .figure = {.kind = Figure::Kind::timeline,
                    .metric = "throughput",
                    .x = "t_s",
                    .x_title = "time since the start (s)",
                    .y_title = "committed tokens per second"},
         .takes_faults = true,
         .default_scenario =
             "kill:rank=1@step=6; join:count=1@step=10; hang:rank=2@step=16; kill:rank=4@step=22; "
             "kill:rank=5,phase=transfer@step=22; join:count=2@step=26; stop:rank=0@step=32"});
    const auto some = between(1, 100'000), any = between(0, 100'000);
    live.axis("workers", &LiveTraining::workers, "workers at the start, one node each", some);
    live.axis("experts", &LiveTraining::experts, "experts per layer", between(2, 100'000));
    live.axis("slots", &LiveTraining::slots, "replica slots per node and layer (c)", some);
    live.axis("min_replicas", &LiveTraining::min_replicas, "fault-tolerance threshold (f)", some);
    live.axis("steps", &LiveTraining::steps, "training steps to commit", some);
    live.axis("rebalance_every", &LiveTraining::rebalance_every,
              "steps between rebalances; 0: never", any);
    live.axis("checkpoint_every", &LiveTraining::checkpoint_every,
              "steps between checkpoints; 0: never", any);
    live.given(&LiveTraining::faults, fault_plan_with(fault_phases()));
    live.given(&LiveTraining::seed, &SampleSpec::seed);
    live.given(&LiveTraining::scratch, &SampleSpec::scratch);
    live.given_to_run(&LiveTraining::corpus, tensors::training_text);
    live.check(check);
    return live.runs(train_live);
}

}  // namespace assay::lazarus
