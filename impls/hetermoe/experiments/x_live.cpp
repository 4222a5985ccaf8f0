// A training split over attention workers and expert workers, across real processes, under faults
// if some are asked for. What is measured: whether the split changes any number, and whether what
// is committed survives.
#include <fmt/format.h>

#include <algorithm>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/x_live.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::hetermoe {
namespace {

// What the controller would only find out in the middle of the training.
void check(const LiveTraining& live) {
    const int fresh = live.fresh, old = live.old, experts = live.experts, chunks = live.chunks;
    if (experts % old != 0)
        throw UserError(fmt::format(
            "{} old workers cannot hold {} experts in equal shares; give a number of experts that "
            "`old` divides",
            old, experts));
    const int least = live.groups * fresh * live.micro_batches;
    if (live.sequences < least)
        throw UserError(fmt::format(
            "{} sequences are too few for {} micro-batches on each of {} new workers; give {} or "
            "more",
            live.sequences, live.micro_batches, live.groups * fresh, least));
    if (chunks > 0 && fresh % old != 0 && old % fresh != 0)
        throw UserError(fmt::format(
            "no experts can move between {} new and {} old workers: neither number divides the "
            "other; give chunks=0",
            fresh, old));
    const int given = std::max(fresh, old) / old;  // n2, of each old worker
    if (chunks * given > experts / old)
        throw UserError(fmt::format("an old worker has {} experts of a layer; {} chunks are {}",
                                    experts / old, chunks, chunks * given));
    if (live.capacity_factor <= 0)
        throw UserError("capacity_factor is to be above 0; routing=dropless drops no token");
    check_training_faults(live.faults, live.groups * (fresh + old), live.steps, fault_phases());
}

ProfilePlan toy() {
    ProfilePlan plan;
    plan.provenances = {Provenance::measured};
    // Axes that came later: cases that do not name them are what they were.
    plan.axes = {{"routing", {"dropless"}}, {"capacity_factor", {}}, {"shape", {}}, {"replan", {}}};
    plan.seconds_per_sample = 6;
    plan.bytes_per_sample = 30e3;
    plan.timeout_s = 300;
    return plan;
}

void bind_axes(Declaration<LiveTraining>& live) {
    using L = LiveTraining;
    live.axis("new", &L::fresh, "attention workers of a group; the first workers of all",
              between(1, 16));
    live.axis("old", &L::old, "expert workers of a group; its number divides the experts",
              between(1, 16));
    live.axis("groups", &L::groups, "side by side", between(1, 8));
    live.axis("experts", &L::experts, "of a layer", between(3, 1024));
    live.axis("layers", &L::layers, "each with experts", between(1, 64));
    live.axis("sequences", &L::sequences, "of a step, over all groups", between(1, 4096));
    live.axis("micro_batches", &L::micro_batches, "of a new worker and step", between(1, 64));
    live.axis("steps", &L::steps, "to commit", between(1, 100'000));
    live.axis("chunks", &L::chunks,
              "of experts moved to new workers, in each layer; replan=on decides for itself",
              {0, 1}, between(0, 1024));
    live.axis("dtype", &L::dtype, "of weights and activations");
    live.axis("routing", &L::routing,
              "dropless: as many rows as the gates choose, behind their counts; capacity: an "
              "expert takes so many of a sequence's and no more, the rest is dropped");
    live.axis("capacity_factor", &L::capacity_factor,
              "with routing=capacity: of the choices that an expert would have if all had equally "
              "many",
              {1.25}, or_others);
    live.axis("shape", &L::shape, "of the layers");
    live.axis("replan", &L::replan, "on: experts move as measured times demand");
    live.axis("checkpoint_every", &L::checkpoint_every, "steps between checkpoints; 0: never",
              between(0, 100'000));
}

}  // namespace

Experiment x_live() {
    Declaration<LiveTraining> live(
        {.id = "hetermoe/x_live",
         .title = "A live training split over attention workers and expert workers",
         .source = "our own; the training of arXiv 2504.03871v1, sections 3 to 5",
         .says =
             "A byte-level GPT with mixtures of experts (top-2 gates, Adam), or a model with "
             "Mixtral's layers, trains on real text across worker processes: attention and all "
             "that is dense on the new ones, experts on the old ones but for those that move "
             "(chunks, in every layer), in Theorem 1's order, dispatch and combine each on a "
             "communicator of its own. Autograd is cut at every layer's experts, and activations "
             "are computed again. Equal seed and sequences give equal losses whatever the groups "
             "are. With replan=on workers' task times decide how many experts move, by Algorithm "
             "1, at the start and when a kind of workers comes to another pace. The same is "
             "trained in one process, uncut, and weights are compared; under faults the recorded "
             "groups are replayed with nobody killed, and weights and moments compared bit for "
             "bit. Every worker has the same processor: the split is the paper's, its speed is "
             "not.",
         .variants = {"hetermoe"},
         .metrics = declared<LiveFound>(),
         .profiles = {toy()},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "loss",
                    .x = "step",
                    .panels = {"dtype"},
                    .x_title = "step",
                    .y_title = "mean cross entropy (nat/token)"},
         .takes_faults = true});
    bind_axes(live);
    live.given(&LiveTraining::faults, fault_plan_with(fault_phases()));
    live.given(&LiveTraining::seed, &SampleSpec::seed);
    live.given(&LiveTraining::scratch, &SampleSpec::scratch);
    live.given_to_run(&LiveTraining::corpus, tensors::training_text);
    live.check(check);
    return live.runs(train_live);
}

}  // namespace assay::hetermoe
