// What drives workers of several roles: across processes, in real or paced time
// (processes/process_driver.hpp), or without them in virtual time (simulated/virtual_cluster.hpp).
// A policy is run on it by PolicyRun (policy_run.hpp); a harness calls it itself.
#pragma once

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "suite/drive/any_message.hpp"
#include "suite/drive/nic.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/worker.hpp"

namespace assay::drive {

/// What a worker can be spawned as.
struct Role {
    std::string name;  ///< may be empty where there is one role
    std::function<Protocol(Worker&)> protocol;
    /// What a worker is configured with (Worker::configuration) that is spawned without more.
    std::function<nlohmann::json(const Spawn&)> configure{};
    FaultPhases phases{};   ///< that faults keyed by a step can name, beside "start" and "step"
    Nic nic{};              ///< of each
    double progress_s = 0;  ///< scenario seconds without progress that are a stall; 0: never
};

/// Names that workers of a role can be spawned under while they are offered, as a trace of
/// available machines has them.
struct Offer {
    std::string role, instance;
    double from_s = 0, until_s = std::numeric_limits<double>::infinity();
};

/// A worker said something.
struct Said {
    WorkerId worker = -1;
    AnyMessage message;
};
using DriverEvent = std::variant<Joined, Died, LeaveRequested, Timer, Idle, Stalled, Offered,
                                 Revoked, Arrived, Broken, Said>;

/// Used by one thread. Workers that are spawned before the first turn are there at the beginning:
/// scenario time is 0 when all of them have joined, or died.
class Driver {
  public:
    virtual ~Driver() = default;

    /// Who is told of what happens, inside turn(). Not from within it.
    void listen(std::function<void(const DriverEvent&)> listener) {
        listener_ = std::move(listener);
    }

    virtual double now() const = 0;  ///< scenario seconds
    /// Waits for what happens next, at most so many scenario seconds, and tells of it. False:
    /// nothing did; without a limit: and nothing ever will.
    virtual bool turn(double most_s = std::numeric_limits<double>::infinity()) = 0;

    /// Throws UserError for a role that is unknown or a name that another holds, NotSupportedHere
    /// where this machine has no room for one more process.
    virtual WorkerId spawn(const Spawn& spawn, nlohmann::json configuration = {}) = 0;
    /// To one that is dead: lost.
    virtual void send(WorkerId worker, const AnyMessage& message) = 0;
    virtual void start(const StartTimer& timer) = 0;
    virtual void start(const Transfer& transfer) = 0;
    virtual void dismiss(WorkerId worker) = 0;
    virtual void evict(const Evict& evict) = 0;
    /// Now, whatever its time; one whose target is not there does not strike.
    virtual void strike(const Fault& fault) = 0;

    /// It has been spawned, and it is not known that it ended.
    virtual bool alive(WorkerId worker) const = 0;
    /// "signal 9", "exit 70: why"; of one that lives, nothing.
    virtual const std::string& how_ended(WorkerId worker) const = 0;
    /// Faults that have struck, each counted when it did.
    virtual long faults_struck() const = 0;
    /// Paced: scenario seconds by which something was told of later than the modelled cluster would
    /// have, at the worst.
    virtual double worst_late_s() const { return 0; }

  protected:
    void tell(const DriverEvent& event) const {
        if (listener_) listener_(event);
    }

  private:
    std::function<void(const DriverEvent&)> listener_;
};

}  // namespace assay::drive
