// A policy and what drives it, for systems whose actions are messages to one worker each and whose
// events are what workers say: the driver's own events and actions are understood, the rest is
// carried as it is described (messages.hpp). Systems that do more on the way have a session of
// their own (processes/process_driver.hpp, simulated/world.hpp).
#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"

namespace assay::drive {

/// How a run went.
template <class P>
struct PolicyCourse {
    bool ok = false;
    std::string why;
    double ended_s = 0;  ///< scenario time of its end
    /// Steady pace: scenario seconds by which something came later than the modelled cluster would
    /// have told of it, at the worst.
    double worst_late_s = 0;
    std::vector<Decision<P>> decisions;
};

/// An action that goes to a worker as a message.
template <class A>
concept Order = Message<A> && requires(const A& action) {
    { action.worker } -> std::convertible_to<WorkerId>;
};

template <Policy P>
class PolicyRun {
  public:
    using Event = typename P::Event;

    explicit PolicyRun(P policy) : policy_(true, std::move(policy)) {}
    virtual ~PolicyRun() = default;
    PolicyRun(const PolicyRun&) = delete;
    PolicyRun& operator=(const PolicyRun&) = delete;

  protected:
    virtual double now() const = 0;
    virtual void start_timer(const StartTimer&) = 0;
    virtual void evict(const Evict&) = 0;
    virtual void send(WorkerId, const nlohmann::json&) = 0;
    virtual void ended() = 0;  ///< course() is known

    /// Tells the policy of one of the driver's own events; of those that it has no use for, not.
    template <class E>
    void tell(const E& event) {
        idle_ = std::is_same_v<E, Idle>;
        if constexpr (std::is_constructible_v<Event, E>) decide(Event(event));
    }
    void tell_message(const nlohmann::json& message) {
        idle_ = false;
        decide(message_to<Event>(message));
    }

    /// Nothing is under way and nobody will come.
    void tell_idle() {
        if (idle_) return end(false, "the policy waits for what cannot come");
        tell(Idle{});
        if constexpr (!std::is_constructible_v<Event, Idle>)
            end(false, "nothing is under way, and the policy has not ended");
    }

    void end(bool ok, std::string why) {
        if (over_) return;
        over_ = true;
        course_.ok = ok;
        course_.why = std::move(why);
        course_.ended_s = now();
        course_.decisions = policy_.decisions();
        ended();
    }
    bool over() const { return over_; }
    PolicyCourse<P>& course() { return course_; }

  private:
    void decide(const Event& event) {
        if (over_) return;
        for (const auto& action : policy_.on(event, now())) {
            if (over_) return;
            std::visit([this](const auto& one) { act(one); }, action);
        }
    }

    void act(const StartTimer& timer) { start_timer(timer); }
    void act(const Evict& one) { evict(one); }
    void act(const Stop& stop) { end(stop.ok, stop.why); }
    template <Order A>
    void act(const A& order) {
        send(order.worker, to_message(order));
    }

    RecordedPolicy<P> policy_;
    PolicyCourse<P> course_;
    bool over_ = false;
    bool idle_ = false;  ///< it was told so, and nothing has happened since
};

}  // namespace assay::drive
