#include "impls/lazarus/tensor_functions.hpp"

#include <ATen/Parallel.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/recorded_decisions.hpp"
#include "impls/lazarus/simulated/training.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "impls/lazarus/spot/spot_session.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {
namespace {

void record_real_costs(const SessionResult& result, Recorder& recorder) {
    if (!result.detections_real_s.empty())
        recorder.metric("real_detect_s", median(result.detections_real_s));
    std::vector<double> regroups;
    for (const auto& one : result.reconfigurations) regroups.push_back(one.real_s);
    if (!regroups.empty()) recorder.metric("real_regroup_s", median(regroups));
}

SessionResult run_live(const SessionOptions& options, Recorder& recorder,
                       std::string_view clock = "") {
    auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    store_decisions(recorder, options.controller, result.decisions, clock);
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);
    return result;
}

// The small model that really trains, standing for nothing else.
Modelling as_it_is(const SessionOptions& options) {
    Modelling modelling;
    modelling.model.sequences = options.training.sequences;
    return modelling;
}

void require_equal_to_oracle(const SessionOptions& options, const SessionResult& result,
                             Recorder& recorder) {
    if (result.digests.empty()) return;
    recorder.progress(1, "replaying the recorded membership with nobody killed");
    at::set_num_threads(1);
    const bool equal = agrees(result.digests, replay_lineage(options.training, result.lineage));
    recorder.metric("state_equal_to_oracle", equal ? 1 : 0);
    require_equal(equal);
}

}  // namespace

void run_fig9(const SampleSpec& spec, const MappedTrace& nodes, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder) {
    auto training = spot_training_of(spec, nodes.initial_workers, routing);
    const bool paced = spec.provenance == Provenance::emulated;
    if (!paced) training.modelled_steps = 1;
    auto options = paced ? spot_session(training, corpus, spec.scratch)
                         : unpaced_spot_session(
                               training, static_cast<double>(integer_axis(spec, "compression")),
                               corpus, spec.scratch);
    options.faults = nodes.faults;
    const auto result = run_live(options, recorder);
    record_course(result, training, paced ? options.pacing->modelling : as_it_is(options),
                  recorder);
    record_real_costs(result, recorder);
    if (paced) {
        recorder.metric("overrun", result.pacing.overrun());
        recorder.metric("speed", median(result.pacing.speeds));
    }
    require_equal_to_oracle(options, result, recorder);
    if (paced) require_paced(result.pacing);
}

void run_x_clocks(const SampleSpec& spec, const MappedTrace& nodes, const std::string& routing,
                  const std::filesystem::path& corpus, Recorder& recorder) {
    const auto training = spot_training_of(spec, nodes.initial_workers, routing);
    auto modelled = modelled_training(training);
    modelled.faults = nodes.faults;
    auto options = spot_session(training, corpus, spec.scratch);
    options.faults = nodes.faults;

    const double began = cluster::monotonic_s();
    const auto paced = run_live(options, recorder, "paced");
    const double between = cluster::monotonic_s();
    MemoryRecorder unseen;  // the timeline shows the processes
    const auto simulated = simulate_training(modelled, unseen);
    const double ended = cluster::monotonic_s();
    store_decisions(recorder, modelled.controller, simulated.decisions, "simulated");
    if (!simulated.ok) throw SampleError(SampleStatus::failed, "simulated: " + simulated.why);

    const auto total = [&](const TrainingCourse& course) {
        return samples_total(course, training, modelled.modelling);
    };
    const auto record = [&](const char* clock, const TrainingCourse& course) {
        recorder.metric("samples_total", total(course), {{"clock", std::string(clock)}});
        recorder.metric("restarts", double(course.counts.fallbacks),
                        {{"clock", std::string(clock)}});
    };
    record("paced", paced);
    record("simulated", simulated);
    const double off = total(simulated) / total(paced) - 1;
    recorder.metric("samples_off", off);
    recorder.metric("simulation_off", std::abs(off));
    recorder.metric("step_off",
                    full_step_s(simulated, training) / full_step_s(paced, training) - 1);
    recorder.metric("speedup", (between - began) / (ended - between));
    const bool again =
        !drive::first_difference(Controller(modelled.controller), simulated.decisions);
    recorder.metric("decides_the_same_again", again ? 1 : 0);
    require_paced(paced.pacing);
}

}  // namespace assay::lazarus
