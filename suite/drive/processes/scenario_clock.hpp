// The time that policies and fault plans live in: scenario seconds, `speed` of them per real
// second. It can stand still (timekeeper.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "suite/cluster/processes/supervisor.hpp"

namespace assay::drive {

class ScenarioClock {
  public:
    ScenarioClock();  ///< running, at 0, speed 1

    double now() const;  ///< scenario seconds
    double speed() const { return speed_; }
    bool frozen() const { return frozen_; }
    void freeze();
    void run();
    void set_speed(double speed);  ///< from now on
    /// The monotonic clock's reading at scenario time `t_s`, if the clock runs on as it does.
    double real_of(double t_s) const;
    /// The scenario time when the monotonic clock showed `reading_s`, which is past; not before the
    /// clock was last frozen, set running or changed its speed.
    double at_reading(double reading_s) const;

  private:
    double speed_ = 1;
    bool frozen_ = false;
    double scenario_ = 0;  // at …
    double real_;          // … this reading of the monotonic clock
};

/// Timers in scenario time on top of a supervisor's real ones.
class ScenarioTimers {
  public:
    ScenarioTimers(const ScenarioClock& clock, cluster::Supervisor& supervisor)
        : clock_(clock), supervisor_(supervisor) {}

    using Callback = std::function<void()>;
    /// Calls back at scenario time `t_s` (at once, from the event loop, when that has passed).
    std::uint64_t at(double t_s, Callback callback);
    std::uint64_t after(double seconds, Callback callback) {
        return at(clock_.now() + seconds, std::move(callback));
    }
    void cancel(std::uint64_t id);

    void rearm();  ///< after the clock was frozen, set running or changed its speed
    /// A timer of the supervisor fired: true when it was ours; then what is due was called.
    bool on_timer(std::uint64_t supervisor_timer);

  private:
    const ScenarioClock& clock_;
    cluster::Supervisor& supervisor_;
    struct Pending {
        std::uint64_t id;
        Callback callback;
    };
    std::multimap<double, Pending> pending_;  // by scenario time
    std::optional<std::uint64_t> armed_;
    std::uint64_t ids_ = 0;
};

}  // namespace assay::drive
