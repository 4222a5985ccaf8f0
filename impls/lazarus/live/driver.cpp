#include "impls/lazarus/live/driver.hpp"

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/session.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::lazarus {
namespace {

drive::ProcessOptions process_options(const SessionOptions& options) {
    drive::ProcessOptions process{.supervisor = options.supervisor,
                                  .operation_timeout_s = options.operation_timeout_s,
                                  .faults = options.faults,
                                  .phases = fault_phases(),
                                  .duration_s = options.duration_s,
                                  .speed = options.speed};
    if (options.pacing) {
        process.pace = drive::Pace::steps;
        // A modelled step of a second: the speed before the first one is known.
        process.typical_step_s = options.pacing->modelling.modelled_steps;
    }
    return process;
}

}  // namespace

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    const cluster::RendezvousServer rendezvous;
    return Session(std::move(launcher), process_options(options), options, rendezvous.port(),
                   recorder)
        .run();
}

}  // namespace assay::lazarus
