#include "impls/lazarus/experiments/tab2_run.hpp"

#include "impls/lazarus/experiments/seeded_shuffle.hpp"
#include "impls/lazarus/experiments/spot_training.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int workers = 10;
constexpr Step kill_at = 2;

// Steps 0 and 1 replay iterations 1 and `step` + 1 of the trace; a rebalance follows each, so that
// the plan in force at step 2 is the one for the loads of `step`.
SessionOptions session_of(const SampleSpec& spec, int lost, std::int64_t step,
                          const std::string& routing, const std::filesystem::path& corpus) {
    SpotTraining training;
    training.model = to_string(spec.axes.at("model"));
    training.routing = routing;
    training.workers = workers;
    training.modelled_steps = 1;
    training.steps = kill_at + 2;
    training.seed = spec.seed;
    training.real_layers = 12;
    auto options = spot_session(training, corpus, spec.scratch);
    options.training.modelled_steps = step;
    options.controller.rebalance_every = 1;
    std::vector<int> victims(workers);
    for (int i = 0; i < workers; ++i) victims[static_cast<std::size_t>(i)] = i;
    auto random = seeded_engine(spec.seed, 0, 0);
    seeded_shuffle(victims, random);
    for (int i = 0; i < lost; ++i) {
        Fault fault;
        fault.kind = FaultKind::kill;
        fault.rank = victims[static_cast<std::size_t>(i)];
        fault.step = kill_at;
        options.faults.faults.push_back(fault);
    }
    return options;
}

}  // namespace

void run_tab2(const SampleSpec& spec, int lost, std::int64_t step, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder) {
    const auto options = session_of(spec, lost, step, routing, corpus);
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);
    if (result.faults_fired != lost)
        throw SampleError(SampleStatus::invalid, "not all of the kills took place");
    for (const auto& one : result.reconfigurations) {
        if (!one.after_death) continue;
        recorder.metric("recovered", one.restart ? 0 : 1);
        recorder.metric("states_moved", double(one.transfers));
        recorder.metric("reconfiguration_s", one.cost.total());
        recorder.metric("transfer_s", one.cost.transfer_s);
        recorder.metric("real_regroup_s", one.real_s);
    }
    if (!result.detections_real_s.empty())
        recorder.metric("real_detect_s", result.detections_real_s.back());
}

}  // namespace assay::lazarus
