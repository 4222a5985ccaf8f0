// A policy on a driver: what happens to workers, and what they say, reach the policy as its events;
// its actions are carried out. The driver's own events and actions (policy.hpp) are understood,
// every other action is a message to one worker.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "suite/drive/driver.hpp"

namespace assay::drive {

/// How a run went.
template <class P>
struct PolicyCourse {
    bool ok = false;
    std::string why;
    double ended_s = 0;       ///< scenario time of its end
    double worst_late_s = 0;  ///< Driver::worst_late_s
    long faults_struck = 0;
    std::vector<Decision<P>> decisions;  ///< unless a sink gets them
};

/// An action that is the message itself, to the worker that it names.
template <class A>
concept Order = Message<A> && !is_addressed<A> && requires(const A& action) {
    { action.worker } -> std::convertible_to<WorkerId>;
};

template <Policy P>
class PolicyRun {
  public:
    using Event = typename P::Event;
    using Sink = typename RecordedPolicy<P>::Sink;

    /// Keeps all decisions, or gives each to `sink` before its actions are carried out.
    PolicyRun(P policy, Driver& driver) : driver_(driver), policy_(true, std::move(policy)) {
        listen();
    }
    PolicyRun(P policy, Driver& driver, Sink sink)
        : driver_(driver), policy_(std::move(sink), std::move(policy)) {
        listen();
    }
    ~PolicyRun() { driver_.listen({}); }
    PolicyRun(const PolicyRun&) = delete;
    PolicyRun& operator=(const PolicyRun&) = delete;

    /// Until the policy's Stop, or until nothing can happen any more.
    PolicyCourse<P> run() {
        while (!over_)
            if (!driver_.turn()) end(false, stuck());
        course_.worst_late_s = driver_.worst_late_s();
        course_.faults_struck = driver_.faults_struck();
        course_.decisions = policy_.decisions();
        return std::move(course_);
    }

    const P& policy() const { return *policy_; }

  private:
    void listen() {
        driver_.listen([this](const DriverEvent& event) {
            std::visit([this](const auto& one) { tell(one); }, event);
        });
    }

    /// Of the driver's own events that the policy has no use for it is not told.
    template <class E>
    void tell(const E& event) {
        idle_ = std::is_same_v<E, Idle>;
        if constexpr (std::is_constructible_v<Event, E>) decide(Event(event));
    }
    void tell(const Said& said) {
        idle_ = false;
        decide(as_event(said, std::type_identity<Event>()));
    }

    template <class... Es>
    Event as_event(const Said& said, std::type_identity<std::variant<Es...>>) const {
        std::optional<Event> event;
        (void)(... || read<Es>(said, event));
        if (event) return *std::move(event);
        return message_to<Event>(said.message.to_json());  // the words of the refusal are there
    }
    template <class E>
    static bool read(const Said& said, std::optional<Event>& event) {
        if (said.message.name() != detail::name<E>) return false;
        if constexpr (is_addressed<E>)
            event = E{said.worker, said.message.to<decltype(E::message)>()};
        else
            event = said.message.to<E>();
        return true;
    }

    void decide(const Event& event) {
        if (over_) return;
        for (const auto& action : policy_.on(event, driver_.now())) {
            if (over_) return;
            std::visit([this](const auto& one) { act(one); }, action);
        }
    }

    void act(const StartTimer& timer) { driver_.start(timer); }
    void act(const Transfer& transfer) { driver_.start(transfer); }
    void act(const Spawn& spawn) { driver_.spawn(spawn); }
    void act(const Dismiss& one) { driver_.dismiss(one.worker); }
    void act(const Evict& one) { driver_.evict(one); }
    void act(const Stop& stop) { end(stop.ok, stop.why); }
    template <class M>
    void act(const To<M>& to) {
        driver_.send(to.worker, to.message);
    }
    template <Order A>
    void act(const A& order) {
        driver_.send(order.worker, order);
    }

    void end(bool ok, std::string why) {
        if (std::exchange(over_, true)) return;
        course_.ok = ok;
        course_.why = std::move(why);
        course_.ended_s = driver_.now();
    }
    std::string stuck() const {
        return idle_
                   ? "the policy waits for what cannot come"
                   : "nothing can happen any more: whoever is alive waits for a message, no timer "
                     "runs, and the policy has not ended";
    }

    Driver& driver_;
    RecordedPolicy<P> policy_;
    PolicyCourse<P> course_;
    bool over_ = false;
    bool idle_ = false;  ///< it was told so, and nothing has happened since
};

}  // namespace assay::drive
