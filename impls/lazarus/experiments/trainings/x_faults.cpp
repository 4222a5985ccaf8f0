// How long training stands still after one fault, kind by kind: from its injection until the next
// step is committed. The same live training as x_live, one fault in its middle.
#include "impls/lazarus/experiments/experiments.hpp"

#include <map>

#include "impls/lazarus/experiments/trainings/x_live.hpp"
#include "impls/lazarus/live/fault_phases.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::lazarus {
namespace {

// Faults that last do so for longer than a step takes.
const std::map<std::string, std::string>& faults() {
    static const std::map<std::string, std::string> plans{
        {"none", ""},
        {"kill", "kill:rank=1@step=6"},
        {"hang", "hang:rank=1@step=6"},
        {"stop", "stop:rank=1@step=6"},
        {"slow", "slow:rank=1,factor=4@step=6,for=1"},
        {"link", "link:rank=1,latency=0.01@step=6,for=1"},
        {"cut", "link:rank=1,cut=1@step=6,for=0.3"},
        {"corrupt_message", "corrupt:rank=1,target=message@step=6"},
        {"corrupt_tensor", "corrupt:rank=1,target=tensor@step=6"},
        {"nan", "nan:rank=1@step=6"},
        {"torn", "torn:rank=1@step=6"},
        {"disk_full", "disk_full:rank=1@step=6"}};
    return plans;
}

struct Struck : LiveTraining {
    std::string fault;  ///< of faults()
};

void run(const Struck& struck, Recorder& recorder) {
    LiveTraining live = struck;
    live.steps = 12;
    live.rebalance_every = 0;
    live.checkpoint_every = 7;
    live.faults = parse_fault_plan(faults().at(struck.fault), fault_phases());
    train_live(live, recorder);
}

Experiment described() {
    Experiment e = x_live();
    e.id = "lazarus/x_faults";
    e.title = "From a fault to the survivors' next step, kind by kind";
    e.says =
        "Six workers train twelve steps of lazarus/x_live; one fault strikes at step 6. Measured "
        "is the time from its injection until the next step is committed, beside the same without "
        "a fault (tokens_per_s gives the pace of undisturbed steps). A hang is found by its "
        "heartbeat (1 s of silence), a cut that heals after 0.3 s delays the step by as much.";
    e.takes_faults = false;
    e.default_scenario.clear();
    e.profiles.front().rounds = 3;
    e.profiles.front().seconds_per_sample = 2;
    e.figure = {.kind = Figure::Kind::bars,
                .metric = "fault_to_step_s",
                .x = "fault",
                .x_title = "fault",
                .y_title = "seconds to the next committed step"};
    return e;
}

}  // namespace

Experiment x_faults() {
    Declaration<Struck> declared(described());
    std::vector<std::string> kinds;
    for (const auto& [name, plan] : faults()) kinds.push_back(name);
    declared.axis("fault", &Struck::fault, "what strikes at step 6", kinds);
    declared.given(&Struck::seed, &SampleSpec::seed);
    declared.given(&Struck::scratch, &SampleSpec::scratch);
    declared.given_to_run(&Struck::corpus, tensors::training_text);
    declared.needs(train_live);
    return declared.runs(run);
}

}  // namespace assay::lazarus
