// What a system's deciding code looks like to whoever drives it: in real time, in paced time or in
// a simulation. A policy has no clock, no thread and no I/O; it is told what happened and answers
// what is to be done:
//
//     struct Policy {
//         using Event = std::variant<…>;
//         using Action = std::variant<…>;
//         void on(const Event&, double now_s, std::vector<Action>& actions);
//     };
//
// Given the settings it was made with and the events it was told of, its actions are always the
// same. Timers are actions that come back as events; "nobody has anything to do" is an event too.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::drive {

using WorkerId = int;  ///< 0, 1, …; never reused in a run

// ---- what every driver tells of and can be asked for --------------------------------------------
// A policy has those of them among its events and actions that it has a use for.

struct Joined {  ///< a new worker has reported
    WorkerId worker = -1;
    bool more = false;                      ///< others that came at the same moment follow at once
    std::optional<std::string> role{};      ///< where roles have names
    std::optional<std::string> instance{};  ///< where it was spawned under a name
    bool operator==(const Joined&) const = default;
};
struct Died {
    WorkerId worker = -1;
    bool operator==(const Died&) const = default;
};
struct LeaveRequested {  ///< the worker got a preemption notice
    WorkerId worker = -1;
    bool operator==(const LeaveRequested&) const = default;
};
struct Timer {  ///< of a StartTimer
    std::uint64_t id = 0;
    bool operator==(const Timer&) const = default;
};
/// No worker is alive and none will come by itself. Told once each time it comes to that.
struct Idle {
    bool operator==(const Idle&) const = default;
};
/// A worker has given no sign of progress for as long as its role allows (Role::progress_s), though
/// its process lives: told once for each such silence.
struct Stalled {
    WorkerId worker = -1;
    bool operator==(const Stalled&) const = default;
};
/// From now on a worker of that role can be spawned under this name …
struct Offered {
    std::string role, instance;
    bool operator==(const Offered&) const = default;
};
/// … until the name is taken away, `notice_s` after this event; the worker that holds it then is
/// killed.
struct Revoked {
    std::string role, instance;
    double notice_s = 0;
    bool operator==(const Revoked&) const = default;
};
struct Arrived {  ///< all bytes of a Transfer are where they were to go
    std::uint64_t id = 0;
    bool operator==(const Arrived&) const = default;
};
/// A Transfer ended before its time: one of its ends died, or the bytes were damaged or are not
/// offered there. Its first `done` bytes have arrived.
struct Broken {
    std::uint64_t id = 0, done = 0;
    bool operator==(const Broken&) const = default;
};
/// A worker said M, for policies whose messages do not name their worker themselves.
template <class M>
struct From {
    WorkerId worker = -1;
    M message{};
    bool operator==(const From&) const = default;
};

struct StartTimer {
    std::uint64_t id = 0;
    double after_s = 0;  ///< scenario seconds
    bool operator==(const StartTimer&) const = default;
};
/// End this worker, now and for certain (it may be stuck or out of reach); its Died follows.
struct Evict {
    WorkerId worker = -1;
    std::string why;
    bool operator==(const Evict&) const = default;
};
/// Start a worker of that role; Joined follows, or Died. `instance`: a name that outlives workers,
/// held by one at a time; empty: none.
struct Spawn {
    std::string role, instance;
    bool operator==(const Spawn&) const = default;
};
/// It goes home in order, after what it was sent before; its end is no death.
struct Dismiss {
    WorkerId worker = -1;
    bool operator==(const Dismiss&) const = default;
};
/// Bytes [offset, offset + bytes) of an object that `from` offers go to where `to` accepts it;
/// Arrived or Broken follows. `id`: the policy's, never used twice.
struct Transfer {
    std::uint64_t id = 0;
    WorkerId from = -1, to = -1;
    std::string object;
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const Transfer&) const = default;
};
/// A message to a worker, where it does not name its worker itself.
template <class M>
struct To {
    WorkerId worker = -1;
    M message{};
    bool operator==(const To&) const = default;
};
struct Stop {  ///< finished (ok) or cannot go on
    bool ok = false;
    std::string why;
    bool operator==(const Stop&) const = default;
};

// ---- the contract ------------------------------------------------------------------------------

template <class P>
concept Policy = requires(P policy, const typename P::Event& event, double now_s,
                          std::vector<typename P::Action>& actions) {
    {policy.on(event, now_s, actions)};
};

/// One event, when the policy was told of it, and what it asked for.
template <class P>
struct Decision {
    typename P::Event event;
    double now_s = 0;
    std::vector<typename P::Action> actions;
    bool operator==(const Decision&) const = default;
};

/// A policy whose decisions can be recorded: what was decided, in order, is enough to check later,
/// without workers, that the same code decides the same (first_difference; recording.hpp, as text).
template <Policy P>
class RecordedPolicy {
  public:
    using Sink = std::function<void(const Decision<P>&)>;

    /// keep: decisions() has them all.
    template <class... Settings>
    explicit RecordedPolicy(std::same_as<bool> auto keep, Settings&&... settings)
        : policy_(std::forward<Settings>(settings)...), keep_(keep) {}
    /// `sink` gets each as it is made; none is kept.
    template <class... Settings>
    explicit RecordedPolicy(Sink sink, Settings&&... settings)
        : policy_(std::forward<Settings>(settings)...), sink_(std::move(sink)) {}

    /// The actions that `event` leads to.
    std::vector<typename P::Action> on(typename P::Event event, double now_s) {
        std::vector<typename P::Action> actions;
        policy_.on(event, now_s, actions);
        if (sink_) sink_({event, now_s, actions});
        if (keep_) decisions_.push_back({std::move(event), now_s, actions});
        return actions;
    }

    const P& operator*() const { return policy_; }
    const P* operator->() const { return &policy_; }
    const std::vector<Decision<P>>& decisions() const { return decisions_; }

  private:
    P policy_;
    bool keep_ = false;
    Sink sink_;
    std::vector<Decision<P>> decisions_;
};

/// Where a policy decides otherwise than it was recorded; explanation() of recording.hpp puts it
/// into words.
template <class P>
struct Difference {
    std::size_t decision = 0;                 ///< its place among the recorded ones
    std::vector<typename P::Action> actions;  ///< that it takes now
};

/// Tells `policy`, which must be as it was before the first of them, of the recorded events alone.
/// Returns the first decision that comes out otherwise; nothing where none does.
template <Policy P>
std::optional<Difference<P>> first_difference(P policy, const std::vector<Decision<P>>& recorded) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        std::vector<typename P::Action> actions;
        policy.on(recorded[i].event, recorded[i].now_s, actions);
        if (actions != recorded[i].actions) return Difference<P>{i, std::move(actions)};
    }
    return std::nullopt;
}

}  // namespace assay::drive
