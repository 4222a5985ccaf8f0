// A mixture-of-experts model trains across real processes while some of them are killed, frozen,
// asked to leave, and others join. What is measured: whether training goes on, what is lost, how
// long each recovery takes, and whether the final state equals, bit for bit, that of a run in which
// the same members came and went by plan.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/live_training.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {
namespace {

void run(const SampleSpec& spec, Recorder& recorder) {
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text) {
        tensors.run_x_live(spec, text, recorder);
    });
}

// What the controller and the fault plan would only find out in the middle of the training.
void validate_x_live(const SampleSpec& spec) {
    const auto integer = [&](const char* axis, std::int64_t least) {
        return integer_axis(spec, axis, least, 100000);
    };
    const auto workers = integer("workers", 1), slots = integer("slots", 1);
    const auto experts = integer("experts", 2);
    integer("min_replicas", 1);
    const auto steps = integer("steps", 1);
    integer("rebalance_every", 0);
    integer("checkpoint_every", 0);
    if (workers * slots < experts) {
        throw UserError(fmt::format(
            "{} workers with {} slots each cannot hold {} experts; raise workers or slots", workers,
            slots, experts));
    }
    const auto plan = parse_fault_plan(spec.scenario, fault_phases());
    refuse_wipes(plan);
    validate(plan, static_cast<int>(workers), fault_phases());
    for (const auto& fault : plan.faults) {
        if (fault.step && *fault.step >= steps)
            throw UserError(
                fmt::format("fault '{}' would never strike: the training has {} steps, 0 to {}",
                            assay::to_string(fault), steps, steps - 1));
    }
}

MetricSpec metric(std::string name, std::string unit, std::string says, Direction better,
                  bool deterministic, std::vector<std::string> labels = {}) {
    return {std::move(name), std::move(unit), std::move(says),
            better,          deterministic,   std::move(labels)};
}

}  // namespace

Experiment x_live() {
    Experiment e;
    e.id = "lazarus/x_live";
    e.title = "A live training under kills, hangs, departures and joins";
    e.source = "arXiv 2407.04656v2, sections 3, 4.3 and 5";
    e.says =
        "A byte-level GPT whose feed-forward layers are mixtures of experts (top-1 gate, Adam) "
        "trains on real text across worker processes. A fault plan strikes; the controller "
        "discards the interrupted step, plans anew for the survivors, moves missing expert states "
        "between them and goes on. Afterwards the recorded membership is replayed with nobody "
        "killed, and weights and moments of both runs are compared bit for bit. Differs from the "
        "paper: CPU processes and Gloo instead of GPUs and NCCL, a model of toy size, real gates "
        "instead of replayed ones.";
    e.axes = {
        {"workers", "workers at the start, one node each", {std::int64_t{6}}, true},
        {"experts", "experts per layer", {std::int64_t{8}}, true},
        {"slots", "replica slots per node and layer (c)", {std::int64_t{5}}, true},
        {"min_replicas", "fault-tolerance threshold (f)", {std::int64_t{3}}, true},
        {"steps", "training steps to commit", {std::int64_t{40}}, true},
        {"rebalance_every", "steps between rebalances; 0: never", {std::int64_t{25}}, true},
        {"checkpoint_every", "steps between checkpoints; 0: never", {std::int64_t{10}}, true}};
    e.variants = {"lazarus"};
    e.metrics = {
        metric("committed_steps", "count", "steps in the final lineage", Direction::higher, true),
        metric("steps_lost", "count", "committed steps undone by a checkpoint fallback",
               Direction::lower, true),
        metric(
            "state_equal_to_oracle", "bool",
            "1: weights and moments equal bit for bit the fault-free replay of the same membership",
            Direction::higher, true),
        metric("state_checksum", "hash", "of weights and moments after the last step; 52 bits",
               Direction::none, true),
        metric("discarded_steps", "count", "attempts at a step that were thrown away",
               Direction::none, true),
        metric("deaths", "count", "workers lost", Direction::none, true),
        metric("joins", "count", "workers that joined after the start", Direction::none, true),
        metric("leaves", "count", "workers that left after a notice", Direction::none, true),
        metric("fallbacks", "count", "returns to a checkpoint", Direction::lower, true),
        metric("reconfigurations", "count", "new plans put into force", Direction::none, true),
        metric("transfers", "count", "expert states moved between workers", Direction::none, true),
        metric("faults_planned", "count", "faults in the plan", Direction::none, true),
        metric("faults_fired", "count", "faults injected", Direction::none, true),
        metric("retries", "count", "steps tried again because they failed on live workers",
               Direction::none, true),
        metric("evictions", "count", "workers ended because nobody could reach them",
               Direction::none, true),
        metric("bad_checkpoints", "count", "checkpoints that could not be read back",
               Direction::lower, true),
        metric("loss_first", "nat/token", "mean cross entropy of the first step", Direction::none,
               true),
        metric("loss_last", "nat/token", "mean cross entropy of the last step", Direction::lower,
               true),
        metric("detect_s", "s", "from the injection of a fault until the supervisor knew",
               Direction::lower, false, {"event"}),
        metric("surface_s", "s", "from the injection until the last survivor's collective broke",
               Direction::lower, false, {"event"}),
        metric("regroup_s", "s",
               "from detection until every survivor was ready: plan, new group, transfers",
               Direction::lower, false, {"event"}),
        metric("fault_to_step_s", "s",
               "from the injection of a fault until the survivors' next step was committed",
               Direction::lower, false, {"event", "kind"}),
        metric("tokens_per_s", "1/s", "tokens of committed steps per second of training",
               Direction::higher, false),
    };
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.seconds_per_sample = 15;
    toy.bytes_per_sample = 60e3;
    toy.timeout_s = 300;
    e.profiles = {toy};
    e.figure = {Figure::Kind::timeline,        "throughput", "t_s", {}, "time since the start (s)",
                "committed tokens per second", false};
    e.takes_faults = true;
    e.default_scenario =
        "kill:rank=1@step=6; join:count=1@step=10; hang:rank=2@step=16; kill:rank=4@step=22; "
        "kill:rank=5,phase=transfer@step=22; join:count=2@step=26; stop:rank=0@step=32";
    e.validate = validate_x_live;
    e.unsupported = [](const SampleSpec&) { return tensors::live_training_lacks(); };
    e.inputs = [](const SampleSpec&) { return tensors::live_training_inputs(); };
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
