// Ours: a training that chooses rows, under faults, and whether anything of them is left in it.
#include <fmt/format.h>

#include <algorithm>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/tensors/module.hpp"
#include "suite/base/error.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::dr_post_training {

Experiment x_faults() {
    Experiment experiment;
    experiment.id = "dr_post_training/x_faults";
    experiment.title = "A guarded training under faults, against the same without";
    experiment.source = "our own: nothing is published on faults";
    experiment.says =
        "One worker computes and applies the steps that the guard orders, another takes its place "
        "when it dies. Afterwards weights, moments and selections are compared, bit for bit, with "
        "a "
        "training in one process without faults.";
    experiment.axes = {{"steps", "of the training", {std::int64_t{16}}, true},
                       {"checkpoint_every", "steps; 0: never", {std::int64_t{3}}, true}};
    experiment.variants = {"layer", "global"};
    const auto metric = [&](const char* name, const char* unit, const char* says, Direction better,
                            bool deterministic) {
        experiment.metrics.push_back({name, unit, says, better, deterministic, {}});
    };
    metric("state_equal_to_oracle", "bool",
           "1: weights, moments and selections equal those without faults bit for bit",
           Direction::higher, true);
    metric("stored_steps", "count", "steps stored, each once", Direction::higher, true);
    metric("faults_fired", "count", "faults injected", Direction::none, true);
    metric("deaths", "count", "workers lost", Direction::none, false);
    metric("redone", "count", "steps computed again as their numbers were not finite",
           Direction::none, false);
    metric("restored", "count", "returns of a live worker to a checkpoint", Direction::none, false);
    metric("restarted", "count", "workers that took another's place", Direction::none, false);
    metric("repeated", "count", "stored steps that were applied again", Direction::lower, false);
    metric("unwritten", "count", "checkpoints that could not be written", Direction::none, false);
    metric("unreadable", "count", "checkpoints that could not be read", Direction::none, false);
    ProfilePlan toy;
    toy.profile = Profile::toy;
    toy.provenances = {Provenance::measured};
    toy.rounds = 3;
    toy.seconds_per_sample = 5;
    experiment.profiles = {toy};
    experiment.takes_faults = true;
    experiment.default_scenario =
        "nan:rank=0@step=2; disk_full:rank=0@step=4; hang:rank=0@step=5,for=0.2; "
        "torn:rank=0@step=8; kill:rank=0@step=10";
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "stored_steps",
                         .x = "steps",
                         .panels = {},
                         .x_title = "steps asked for",
                         .y_title = "steps stored"};
    experiment.validate = [](const SampleSpec& spec) {
        const auto steps = integer_axis(spec, "steps", 1, 100'000);
        integer_axis(spec, "checkpoint_every", 0, 100'000);
        const auto plan = parse_fault_plan(spec.scenario);
        // Whoever takes another's place has the next name, so that faults can name it, too.
        const auto costs_its_place = [](const Fault& fault) {
            return fault.kind == FaultKind::kill || (fault.kind == FaultKind::hang && !fault.for_s);
        };
        const auto replaced =
            std::count_if(plan.faults.begin(), plan.faults.end(), costs_its_place);
        refuse_wipes(plan);
        assay::validate(plan, 1 + static_cast<int>(replaced));
        for (const Fault& fault : plan.faults) {
            if (fault.step && *fault.step >= steps)
                throw UserError(
                    fmt::format("fault '{}' would never strike: the training has {} steps, 0 to {}",
                                assay::to_string(fault), steps, steps - 1));
            if (fault.kind == FaultKind::link || fault.kind == FaultKind::join ||
                fault.kind == FaultKind::stop || fault.target == "message")
                throw UserError(fmt::format(
                    "fault '{}': there is one worker, which speaks to no other and is replaced by "
                    "itself; give kill, hang, slow, corrupt:target=tensor, nan, torn or disk_full",
                    assay::to_string(fault)));
        }
    };
    experiment.unsupported = [](const SampleSpec&) { return tensors::module_lacks(); };
    experiment.run = tensors::run_of(&TensorFunctions::run_x_faults);
    return experiment;
}

}  // namespace assay::dr_post_training
