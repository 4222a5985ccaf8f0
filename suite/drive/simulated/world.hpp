// A cluster without processes: workers that live, freeze and die, and what passes between them and
// the policy. What workers do is the system's (a state machine per worker); how long anything takes
// is the source of time's and of `Latencies`.
#pragma once

#include <deque>
#include <limits>

#include "suite/drive/policy.hpp"
#include "suite/drive/simulated/virtual_time.hpp"

namespace assay::drive {

/// Seconds that no system decides: constants of a cost model, or seeded draws (campaigns).
class Latencies {
  public:
    virtual ~Latencies() = default;
    virtual double message(WorkerId) = 0;    ///< one message between policy and worker, either way
    virtual double detection(WorkerId) = 0;  ///< from its death to the driver knowing
    /// How long a worker may be frozen: longer, and it counts as dead, which is known then.
    virtual double patience(WorkerId worker) { return detection(worker); }
    virtual double boot(WorkerId) { return 0; }  ///< from its spawn to its being there
};

class SimulatedWorld {
  public:
    using Callback = VirtualTime::Callback;
    static constexpr double forever = std::numeric_limits<double>::infinity();

    SimulatedWorld(VirtualTime& time, Latencies& latencies) : time_(time), latencies_(latencies) {}

    double now() const { return time_.now(); }
    VirtualTime& time() { return time_; }

    WorkerId add();  ///< the next free id; alive
    std::size_t size() const { return workers_.size(); }
    bool alive(WorkerId id) const { return worker(id).alive; }
    /// Not frozen; says nothing of a dead one.
    bool awake(WorkerId id) const { return worker(id).frozen_until_s <= now(); }

    /// Messages of one worker arrive in the order in which they were sent, each way. What a frozen
    /// worker gets waits until it wakes, what a dead one would get is lost. What a dead one had
    /// sent arrives all the same, unless it was silenced. One that is urgent overtakes nothing on
    /// its way, only what waits to be read (VirtualWorker).
    void to_worker(WorkerId, Callback arrives);
    void to_policy(WorkerId, Callback arrives);

    /// Something that takes the worker so long. It never comes to it once it is dead; time in which
    /// it is frozen does not count.
    void after(WorkerId, double seconds, Callback then);

    /// It is dead from now on; `detected` is called once the driver knows. `silenced`: what it has
    /// sent and has not arrived yet is lost. Of a dead one: ignored.
    void kill(WorkerId, Callback detected, bool silenced = false);
    /// The same, known after so many seconds.
    void kill(WorkerId, Callback detected, double after_s, bool silenced);
    /// Frozen until then, `forever` too; while it is frozen already: until the later of the two.
    /// Calls `woken` when this freeze ends and no other goes on: after what it was sent meanwhile.
    void freeze(WorkerId, double until_s, Callback woken = {});

  private:
    struct Worker {
        bool alive = true, silenced = false;
        double frozen_until_s = 0;
        double frozen_s = 0;                    ///< all its freezes, to their ends
        double last_to_s = 0, last_from_s = 0;  ///< arrival of the newest message, each way
        std::deque<Callback> waiting;           ///< came while it was frozen
    };
    Worker& worker(WorkerId id) { return workers_.at(static_cast<std::size_t>(id)); }
    const Worker& worker(WorkerId id) const { return workers_.at(static_cast<std::size_t>(id)); }
    void at(WorkerId, double due_s, double frozen_before_s, Callback then);
    void wake(WorkerId, const Callback& woken);

    VirtualTime& time_;
    Latencies& latencies_;
    std::deque<Worker> workers_;  ///< stay where they are when others come
};

}  // namespace assay::drive
