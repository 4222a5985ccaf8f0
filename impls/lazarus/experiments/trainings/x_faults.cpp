// How long training stands still after one fault, kind by kind: from its injection until the next
// step is committed. The same live training as x_live, one fault in its middle.
#include "impls/lazarus/experiments/experiments.hpp"

#include <map>

#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/live_training.hpp"
#include "suite/experiment/recorder.hpp"

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

SampleSpec live_spec(const SampleSpec& spec) {
    SampleSpec live = spec;
    live.scenario = faults().at(assay::to_string(spec.axes.at("fault")));
    live.axes = {{"workers", std::int64_t{6}},         {"experts", std::int64_t{8}},
                 {"slots", std::int64_t{5}},           {"min_replicas", std::int64_t{3}},
                 {"steps", std::int64_t{12}},          {"rebalance_every", std::int64_t{0}},
                 {"checkpoint_every", std::int64_t{7}}};
    return live;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text) {
        tensors.run_x_live(live_spec(spec), text, recorder);
    });
}

}  // namespace

Experiment x_faults() {
    Experiment e = x_live();
    e.id = "lazarus/x_faults";
    e.title = "From a fault to the survivors' next step, kind by kind";
    e.says =
        "Six workers train twelve steps of lazarus/x_live; one fault strikes at step 6. Measured "
        "is the time from its injection until the next step is committed, beside the same without "
        "a fault (tokens_per_s gives the pace of undisturbed steps). A hang is found by its "
        "heartbeat (1 s of silence), a cut that heals after 0.3 s delays the step by as much.";
    std::vector<Value> kinds;
    for (const auto& [name, plan] : faults()) kinds.emplace_back(name);
    e.axes = {{"fault", "what strikes at step 6", kinds, false}};
    e.takes_faults = false;
    e.default_scenario.clear();
    e.validate = nullptr;
    e.profiles.front().rounds = 3;
    e.profiles.front().seconds_per_sample = 2;
    e.figure = {Figure::Kind::bars,
                "fault_to_step_s",
                "fault",
                {},
                "fault",
                "seconds to the next committed step",
                false};
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
