// The time of a simulation: what happens next, and nothing in between. Two sources: a queue of
// events (event_queue.hpp), and SimGrid (suite/drive/simgrid), which knows hosts, links and flows.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace assay::drive {

class VirtualTime {
  public:
    using Id = std::uint64_t;
    using Callback = std::function<void()>;

    virtual ~VirtualTime() = default;

    virtual double now() const = 0;  ///< scenario seconds

    /// Calls `what` at `t_s`; where that has passed, at once: after what is due already. What is
    /// due at one moment happens in the order in which it was asked for.
    virtual Id at(double t_s, Callback what) = 0;
    Id after(double seconds, Callback what) { return at(now() + seconds, std::move(what)); }
    virtual void cancel(Id id) = 0;  ///< what has happened, or was cancelled: ignored

    /// Goes on to the next event and carries it out; false: nothing is left to happen by `until_s`,
    /// and the time is what it was.
    virtual bool next(double until_s = std::numeric_limits<double>::infinity()) = 0;

    virtual bool empty() const = 0;
    virtual std::uint64_t happened() const = 0;  ///< events carried out so far
};

}  // namespace assay::drive
