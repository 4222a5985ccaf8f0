// Ours: a training that chooses rows, under faults, and whether anything of them is left in it.
#include "impls/dr_post_training/experiments/x_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/dr_post_training/experiments/training_experiments.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::dr_post_training {
namespace {

// Whoever takes another's place has the next name, so that faults can name it, too.
bool costs_its_place(const Fault& fault) {
    return fault.kind == FaultKind::kill || (fault.kind == FaultKind::hang && !fault.for_s);
}

void check_faults(const FaultyTraining& faulty) {
    const auto& faults = faulty.faults.faults;
    const auto replaced = std::count_if(faults.begin(), faults.end(), costs_its_place);
    check_training_faults(faulty.faults, 1 + static_cast<int>(replaced), faulty.steps);
    for (const Fault& fault : faults)
        if (fault.kind == FaultKind::link || fault.kind == FaultKind::join ||
            fault.kind == FaultKind::stop || fault.target == "message")
            throw UserError(fmt::format(
                "fault '{}': there is one worker, which speaks to no other and is replaced by "
                "itself; give kill, hang, slow, corrupt:target=tensor, nan, torn or disk_full",
                assay::to_string(fault)));
}

ProfilePlan toy_of_faults() {
    ProfilePlan plan;
    plan.provenances = {Provenance::measured};
    plan.rounds = 3;
    plan.seconds_per_sample = 5;
    return plan;
}

}  // namespace

Experiment x_faults() {
    Declaration<FaultyTraining> faulty(
        {.id = "dr_post_training/x_faults",
         .title = "A guarded training under faults, against the same without",
         .source = "our own: nothing is published on faults",
         .says =
             "One worker computes and applies the steps that the guard orders, another takes its "
             "place when it dies. Afterwards weights, moments and selections are compared, bit for "
             "bit, with a training in one process without faults.",
         .metrics = declared<FaultsFound>(),
         .profiles = {toy_of_faults()},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "stored_steps",
                    .x = "steps",
                    .x_title = "steps asked for",
                    .y_title = "steps stored"},
         .takes_faults = true,
         .default_scenario =
             "nan:rank=0@step=2; disk_full:rank=0@step=4; hang:rank=0@step=5,for=0.2; "
             "torn:rank=0@step=8; kill:rank=0@step=10"});
    faulty.axis("steps", &FaultyTraining::steps, "of the training", between(1, 100'000));
    faulty.axis("checkpoint_every", &FaultyTraining::checkpoint_every, "steps; 0: never",
                between(0, 100'000));
    faulty.variants(&FaultyTraining::arm, {"layer", "global"});
    faulty.given(&FaultyTraining::faults, fault_plan_with({}));
    faulty.given(&FaultyTraining::seed, &SampleSpec::seed);
    faulty.given(&FaultyTraining::scratch, &SampleSpec::scratch);
    faulty.check(check_faults);
    return faulty.runs(train_under_faults);
}

}  // namespace assay::dr_post_training
