// A training split over attention workers and expert workers, across real processes, under faults
// if some are asked for. What is measured: whether the split changes any number, and whether what
// is committed survives.
#include "impls/hetermoe/experiments/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#include "impls/tensors/module.hpp"
#endif

namespace assay::hetermoe {
namespace {

void run([[maybe_unused]] const SampleSpec& spec, [[maybe_unused]] Recorder& recorder) {
    const auto text = tensors::training_text();  // says so where nothing can train
#ifdef ASSAY_HETERMOE_LIVE
    tensors::functions<TensorFunctions>().run_x_live(spec, text, recorder);
#endif
}

// What the controller and the fault plan would only find out in the middle of the training.
void validate(const SampleSpec& spec) {
    const auto integer = [&](const char* axis, std::int64_t least, std::int64_t most) {
        return integer_axis(spec, axis, least, most);
    };
    const auto fresh = integer("new", 1, 16), old = integer("old", 1, 16);
    const auto groups = integer("groups", 1, 8), experts = integer("experts", 3, 1024);
    const auto batches = integer("micro_batches", 1, 64);
    integer("layers", 1, 64);
    const auto sequences = integer("sequences", 1, 4096), steps = integer("steps", 1, 100000);
    integer("checkpoint_every", 0, 100000);
    const auto chunks = integer("chunks", 0, 1024);
    if (experts % old != 0)
        throw UserError(fmt::format(
            "{} old workers cannot hold {} experts in equal shares; give a number of experts that "
            "`old` divides",
            old, experts));
    if (sequences < groups * fresh * batches)
        throw UserError(fmt::format(
            "{} sequences are too few for {} micro-batches on each of {} new workers; give {} or "
            "more",
            sequences, batches, groups * fresh, groups * fresh * batches));
    if (chunks > 0 && fresh % old != 0 && old % fresh != 0)
        throw UserError(fmt::format(
            "no experts can move between {} new and {} old workers: neither number divides the "
            "other; give chunks=0",
            fresh, old));
    const auto given = std::max(fresh, old) / old;  // n2, of each old worker
    if (chunks * given > experts / old)
        throw UserError(fmt::format("an old worker has {} experts of a layer; {} chunks are {}",
                                    experts / old, chunks, chunks * given));
    if (spec.axes.contains("capacity_factor") && number_axis(spec, "capacity_factor") <= 0)
        throw UserError("capacity_factor is to be above 0; routing=dropless drops no token");
    const auto plan = parse_fault_plan(spec.scenario, fault_phases());
    refuse_wipes(plan);
    assay::validate(plan, static_cast<int>(groups * (fresh + old)), fault_phases());
    for (const auto& fault : plan.faults)
        if (fault.step && *fault.step >= steps)
            throw UserError(
                fmt::format("fault '{}' would never strike: the training has {} steps, 0 to {}",
                            assay::to_string(fault), steps, steps - 1));
}

std::vector<MetricSpec> metrics() {
    const auto none = Direction::none;
    return {
        {"loss", "nat/token", "mean cross entropy of a step", none, true, {"step"}},
        {"difference", "ratio",
         "from the same training in one process: the largest, over the dense block and all "
         "experts, of the norm of the weights' difference over that of the weights",
         Direction::lower, true},
        {"committed_steps", "count", "steps in the final lineage", Direction::higher, true},
        {"state_equal_to_oracle", "bool",
         "1: weights and moments equal bit for bit those of the same groups without faults",
         Direction::higher, true},
        {"discarded_steps", "count", "attempts at a step that were thrown away", none, true},
        {"steps_lost", "count", "committed steps undone by a return to a checkpoint",
         Direction::lower, true},
        {"deaths", "count", "workers lost", none, true},
        {"joins", "count", "workers that joined after the start", none, true},
        {"leaves", "count", "workers that left after a notice", none, true},
        {"plans", "count", "put into force after the first", none, true},
        {"moved_experts",
         "count",
         "of all layers and old workers of a group, on new ones in a step",
         none,
         false,
         {"step"}},
        {"moves", "count", "states of experts, or dense ones, moved between workers", none, true},
        {"faults_fired", "count", "faults injected", none, true},
        {"tokens_per_s", "1/s", "tokens of committed steps per second of training",
         Direction::higher, false},
        {"detect_s",
         "s",
         "from the injection of a fault until the supervisor knew",
         Direction::lower,
         false,
         {"event"}},
        {"regroup_s",
         "s",
         "from detection until every survivor was ready",
         Direction::lower,
         false,
         {"event"}},
    };
}

}  // namespace

Experiment x_live() {
    using Values = std::vector<Value>;
    const auto number = [](std::int64_t value) { return Values{value}; };
    Experiment e;
    e.id = "hetermoe/x_live";
    e.title = "A live training split over attention workers and expert workers";
    e.source = "our own; the training of arXiv 2504.03871v1, sections 3 to 5";
    e.says =
        "A byte-level GPT with mixtures of experts (top-2 gates, Adam), or a model with Mixtral's "
        "layers, trains on real text across worker processes: attention and all that is dense on "
        "the new ones, "
        "experts on the old ones but for those that move (chunks, in every layer), in Theorem 1's "
        "order, dispatch and combine each on a communicator of its own. Autograd is cut at every "
        "layer's experts, and activations are computed again. Equal seed and sequences give equal "
        "losses whatever the groups are. With replan=on "
        "workers' task times decide how many experts move, by Algorithm 1, at the start and when a "
        "kind of workers comes to another pace. The same is trained in one process, uncut, and "
        "weights "
        "are compared; under faults the recorded groups are replayed with nobody killed, and "
        "weights and moments compared bit for bit. Every worker has the same processor: the split "
        "is the paper's, its speed is not.";
    e.axes = {{"new", "attention workers of a group; the first workers of all", number(2), true},
              {"old", "expert workers of a group; its number divides the experts", number(2), true},
              {"groups", "side by side", number(1), true},
              {"experts", "of a layer", number(8), true},
              {"layers", "each with experts", number(3), true},
              {"sequences", "of a step, over all groups", number(8), true},
              {"micro_batches", "of a new worker and step", number(2), true},
              {"steps", "to commit", number(10), true},
              {"chunks",
               "of experts moved to new workers, in each layer; replan=on decides for itself",
               {std::int64_t{0}, std::int64_t{1}},
               true},
              {"dtype", "of weights and activations", {"f32", "f64"}, false},
              {"routing",
               "dropless: as many rows as the gates choose, behind their counts; capacity: an "
               "expert takes "
               "so many of a sequence's and no more, the rest is dropped",
               {"dropless", "capacity"},
               false},
              {"capacity_factor",
               "with routing=capacity: of the choices that an expert would have if all had equally "
               "many",
               {1.25},
               true},
              {"shape", "of the layers", {"gpt", "mixtral"}, false},
              {"replan", "on: experts move as measured times demand", {"off", "on"}, false},
              {"checkpoint_every", "steps between checkpoints; 0: never", number(4), true}};
    e.variants = {"hetermoe"};
    e.metrics = metrics();
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    // Axes that came later: cases that do not name them are what they were.
    toy.axes = {{"routing", {"dropless"}}, {"capacity_factor", {}}, {"shape", {}}, {"replan", {}}};
    toy.seconds_per_sample = 6;
    toy.bytes_per_sample = 30e3;
    toy.timeout_s = 300;
    e.profiles = {toy};
    e.figure = {.kind = Figure::Kind::lines,
                .metric = "loss",
                .x = "step",
                .panels = {"dtype"},
                .x_title = "step",
                .y_title = "mean cross entropy (nat/token)"};
    e.takes_faults = true;
    e.validate = validate;
    e.unsupported = [](const SampleSpec&) { return tensors::lacks(tensors::Needs::text); };
    e.inputs = [](const SampleSpec&) { return tensors::inputs_of(tensors::Needs::text); };
    e.run = run;
    return e;
}

}  // namespace assay::hetermoe
