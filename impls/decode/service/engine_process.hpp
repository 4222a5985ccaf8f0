// An engine as a worker process on suite/cluster: it makes steps by itself while there are
// requests, and says what they brought.
#pragma once

#include "impls/decode/service/engine_host.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::decode {

/// For make_fork_server(). Its configuration: engine_configuration(). `make` is called in the
/// engine's process. It ends in order when it is told to leave, or by SIGTERM.
cluster::WorkerMain engine_worker(MakeBackEnd make);

nlohmann::json engine_configuration(const EngineSettings& settings, cluster::Seconds heartbeat);

/// Weights are a model file's path.
MakeBackEnd back_ends_of_files();

namespace service {

/// When a device that is modelled is done with what it does.
class StepPacer {
  public:
    /// `speed`: modelled seconds per second. Throws UserError where it is not positive.
    explicit StepPacer(double speed);

    /// It had nothing to do: what comes next begins now.
    void rest() { rested_ = true; }
    /// Waits until work of so many modelled seconds is done, which began when what was before it
    /// ended. A little lateness is made up for by what follows; more is lost, as is what a process
    /// that was stopped slept: then, the modelled seconds by which it was too late, else 0.
    double hold(double modelled_s);

  private:
    double speed_;
    double free_s_ = 0;  // of the monotonic clock
    bool rested_ = true;
};

}  // namespace service
}  // namespace assay::decode
