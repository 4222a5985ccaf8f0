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
#include <optional>
#include <utility>
#include <vector>

namespace assay::drive {

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
};

/// A policy whose decisions can be recorded: what was decided, in order, is enough to check later,
/// without workers, that the same code decides the same (first_difference).
template <Policy P>
class RecordedPolicy {
  public:
    template <class... Settings>
    explicit RecordedPolicy(bool keep, Settings&&... settings)
        : policy_(std::forward<Settings>(settings)...), keep_(keep) {}

    /// The actions that `event` leads to.
    std::vector<typename P::Action> on(const typename P::Event& event, double now_s) {
        std::vector<typename P::Action> actions;
        policy_.on(event, now_s, actions);
        if (keep_) decisions_.push_back({event, now_s, actions});
        return actions;
    }

    const P& operator*() const { return policy_; }
    const P* operator->() const { return &policy_; }
    const std::vector<Decision<P>>& decisions() const { return decisions_; }

  private:
    P policy_;
    bool keep_;
    std::vector<Decision<P>> decisions_;
};

/// Tells `policy`, which must be as it was before the first of them, of the recorded events alone.
/// Returns the place of the first decision that comes out otherwise; nothing where none does.
template <Policy P>
std::optional<std::size_t> first_difference(P policy, const std::vector<Decision<P>>& recorded) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        std::vector<typename P::Action> actions;
        policy.on(recorded[i].event, recorded[i].now_s, actions);
        if (actions != recorded[i].actions) return i;
    }
    return std::nullopt;
}

}  // namespace assay::drive
