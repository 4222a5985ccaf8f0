// A worker's end of a driver: what it is told, the faults that strike inside it, the points at
// which it waits for them, and what it says when its group breaks.
//
// Messages are JSON objects with a "type". Those that are not the system's:
//   to the worker  inject (a fault), continue (after a point), stop_requested (a preemption notice)
//   from it        joined, at_point, struck, broken, leave_requested
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/processes/control_channel.hpp"
#include "suite/drive/processes/fault_points.hpp"
#include "suite/drive/processes/injection.hpp"
#include "suite/drive/suspicion.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

class WorkerProcess {
  public:
    struct Hooks {
        /// Messages with "urgent": true, on the listener's thread, before they are queued: what it
        /// touches must outlive the channel.
        std::function<void(const nlohmann::json&)> urgent;
        /// A fault inside the worker that is not of its transport; `index`: for struck().
        std::function<void(const Fault&, std::size_t index)> strikes;
    };
    /// `config`: what the driver adds to a worker's configuration ("heartbeat_s", "points").
    /// `links`: of the worker's transport; faults of links strike there.
    WorkerProcess(WorkerId self, cluster::ControlChannel& control, const nlohmann::json& config,
                  std::shared_ptr<cluster::LinkFaults> links, FaultPhases phases, Hooks hooks);

    /// It is there; from now on it can be told something.
    void join() { say({{"type", "joined"}}); }
    void say(const nlohmann::json& message) { control_.send(message); }
    /// The system's next message; nullopt: the driver is gone. Waits; faults strike meanwhile.
    std::optional<nlohmann::json> receive();

    /// Waits here for the faults that are to strike at this point, if there are any.
    void wait_at(const std::string& phase, long step);
    /// A fault inside it has struck.
    void struck(std::size_t index) { say({{"type", "struck"}, {"index", index}}); }

    /// Runs `body`. A group that breaks in it is reported and otherwise left alone: the policy
    /// decides what comes next. Who cannot reach a peer names itself: its others get through.
    /// Whether it did not break.
    bool guarded(Epoch epoch, const std::function<void()>& body);

  private:
    void inject(const nlohmann::json& message);
    void report_strikes();
    void report_broken(Epoch epoch, const std::exception& broken, Suspicion::Cause cause,
                       WorkerId suspect);

    WorkerId self_;
    cluster::ControlChannel& control_;
    FaultPhases phases_;
    Hooks hooks_;
    std::shared_ptr<LinkStrikes> link_strikes_;
    FaultPoints points_;
    std::deque<nlohmann::json> deferred_;  ///< came while it waited at a point
};

}  // namespace assay::drive
