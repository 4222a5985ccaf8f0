// Virtual time: what happens next, and nothing in between. What is due at one moment happens in the
// order in which it was asked for, so a simulation is a function of its inputs alone.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace assay::drive {

class EventQueue {
  public:
    using Id = std::uint64_t;
    using Callback = std::function<void()>;

    double now() const { return now_; }

    /// Calls `what` at `t_s`; where that has passed, at once: after what is due already.
    Id at(double t_s, Callback what);
    Id after(double seconds, Callback what) { return at(now_ + seconds, std::move(what)); }
    void cancel(Id id);  ///< what has happened, or was cancelled: ignored

    /// Goes on to the next event and carries it out; false: nothing is left to happen by `until_s`,
    /// and the time is what it was.
    bool next(double until_s = std::numeric_limits<double>::infinity());

    bool empty() const { return waiting_.empty(); }
    std::uint64_t happened() const { return happened_; }  ///< events carried out so far

  private:
    double now_ = 0;
    Id ids_ = 0;
    std::uint64_t happened_ = 0;
    std::map<std::pair<double, Id>, Callback> waiting_;
    std::map<Id, double> due_;
};

}  // namespace assay::drive
