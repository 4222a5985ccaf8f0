#include "impls/lazarus/experiments/trainings/fig9.hpp"

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

void record_real_costs(const SessionResult& result, const Fig9Found& found) {
    if (!result.detections_real_s.empty()) found.real_detect_s(median(result.detections_real_s));
    std::vector<double> regroups;
    for (const auto& one : result.reconfigurations) regroups.push_back(one.real_s);
    if (!regroups.empty()) found.real_regroup_s(median(regroups));
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
                   const XClocksFound& found) {
    std::vector<double> errors;
    const auto record = [&](const char* name, const Labels& labels, double whole,
                            const std::string& of) {
        errors.push_back(std::abs(simulated.value(name, labels) - paced.value(name, labels)) /
                         whole);
        found.error(errors.back(), {{"of", of}});
    };
    for (const char* name : {"samples_total", "mean_nodes_used", "step_s"})
        record(name, {}, paced.value(name), name);
    record("samples_lost", {}, paced.value("samples_total"), "samples_lost");
    record("restarts", {}, std::max(1.0, paced.value("restarts")), "restarts");
    for (const char* part : {"compute", "checkpoint", "restart", "reconfiguration", "lost"})
        record("share", {{"part", std::string(part)}}, 1, part);
    found.median_error(median(errors));
}

void require_equal_to_oracle(const SessionOptions& options, const SessionResult& result,
                             Recorder& recorder) {
    if (result.digests.empty()) return;
    recorder.progress(1, "replaying the recorded membership with nobody killed");
    at::set_num_threads(1);
    const bool equal = agrees(result.digests, replay_lineage(options.training, result.lineage));
    Fig9Found(recorder).state_equal(equal);
    require_equal(equal);
}

void train(const Fig9& fig9, Recorder& recorder) {
    SpotTraining training = fig9;
    const bool paced = fig9.provenance == Provenance::emulated;
    if (!paced) training.modelled_steps = 1;
    auto options =
        paced ? spot_session(training, fig9.corpus, fig9.scratch)
              : unpaced_spot_session(training, fig9.compression, fig9.corpus, fig9.scratch);
    options.faults = fig9.faults;
    const auto result = run_live(options, recorder);
    record_course(result, training, paced ? options.pacing->modelling : as_it_is(options),
                  recorder);
    const Fig9Found found(recorder);
    record_real_costs(result, found);
    if (paced) {
        found.overrun(result.pacing.overrun());
        found.speed(median(result.pacing.speeds));
    }
    require_equal_to_oracle(options, result, recorder);
    if (paced) require_paced(result.pacing);
}

void train(const XClocks& clocks, Recorder& recorder) {
    auto modelled = modelled_training(clocks);
    modelled.faults = clocks.faults;
    auto options = spot_session(clocks, clocks.corpus, clocks.scratch);
    options.faults = clocks.faults;
    // As in fig6: Lazarus recovers from single failures without checkpoints.
    if (clocks.kind == ClockFaults::controlled && clocks.system == "lazarus")
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
    record_course(paced, clocks, modelled.modelling, of_paced);
    record_course(simulated, clocks, modelled.modelling, of_simulated);
    const XClocksFound found(recorder);
    for (const auto& [clock, of] :
         {std::pair("paced", &of_paced), std::pair("simulated", &of_simulated)}) {
        found.samples_total(of->value("samples_total"), {{"clock", clock}});
        found.restarts(of->value("restarts"), {{"clock", clock}});
    }
    record_errors(of_paced, of_simulated, found);
    found.speedup((between - began) / (ended - between));
    found.decides_the_same_again(
        !drive::first_difference(Controller(modelled.controller), simulated.decisions));
    require_paced(paced.pacing);
}

const tensors::Provided fig9_provided(train_fig9, train), clocks_provided(train_x_clocks, train);

}  // namespace
}  // namespace assay::lazarus
