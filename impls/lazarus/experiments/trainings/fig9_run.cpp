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

void record_errors(const MemoryRecorder& paced, const MemoryRecorder& simulated,
                   Recorder& recorder) {
    std::vector<double> errors;
    const auto record = [&](const char* name, const Labels& labels, double whole,
                            const std::string& of) {
        errors.push_back(std::abs(simulated.value(name, labels) - paced.value(name, labels)) /
                         whole);
        recorder.metric("error", errors.back(), {{"of", of}});
    };
    for (const char* name : {"samples_total", "mean_nodes_used", "step_s"})
        record(name, {}, paced.value(name), name);
    record("samples_lost", {}, paced.value("samples_total"), "samples_lost");
    record("restarts", {}, std::max(1.0, paced.value("restarts")), "restarts");
    for (const char* part : {"compute", "checkpoint", "restart", "reconfiguration", "lost"})
        record("share", {{"part", std::string(part)}}, 1, part);
    recorder.metric("median_error", median(errors));
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
    // As in fig6: Lazarus recovers from single failures without checkpoints.
    if (assay::to_string(spec.axes.at("faults")) == "controlled" && training.system == "lazarus")
        modelled.controller.checkpoint_every = options.controller.checkpoint_every = 0;

    const double began = cluster::monotonic_s();
    const auto paced = run_live(options, recorder, "paced");
    const double between = cluster::monotonic_s();
    MemoryRecorder unseen;  // the timeline shows the processes
    const auto simulated = simulate_training(modelled, unseen);
    const double ended = cluster::monotonic_s();
    store_decisions(recorder, modelled.controller, simulated.decisions, "simulated");
    if (!simulated.ok) throw SampleError(SampleStatus::failed, "simulated: " + simulated.why);

    MemoryRecorder of_paced, of_simulated;
    record_course(paced, training, modelled.modelling, of_paced);
    record_course(simulated, training, modelled.modelling, of_simulated);
    for (const char* name : {"samples_total", "restarts"}) {
        recorder.metric(name, of_paced.value(name), {{"clock", std::string("paced")}});
        recorder.metric(name, of_simulated.value(name), {{"clock", std::string("simulated")}});
    }
    record_errors(of_paced, of_simulated, recorder);
    recorder.metric("speedup", (between - began) / (ended - between));
    const bool again =
        !drive::first_difference(Controller(modelled.controller), simulated.decisions);
    recorder.metric("decides_the_same_again", again ? 1 : 0);
    require_paced(paced.pacing);
}

}  // namespace assay::lazarus
