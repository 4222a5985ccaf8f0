// A worker's protocol, written once for every clock: a coroutine that receives, works and says.
//
//     drive::Protocol square(drive::Worker& me) {
//         while (const auto message = co_await me.receive()) {
//             const auto task = drive::message_to<Square>(*message);
//             co_await me.work(0.5, [&] { …what is really done… });
//             me.say(Squared{.worker = me.id(), .number = task.number});
//         }
//     }
//
// In a process of its own it receives from a channel and really works; paced, each piece of work
// ends when the modelled device would end it; simulated, nothing is done but time passes. A worker
// that dies does not come back from where it waits.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/base/bytes.hpp"
#include "suite/drive/any_message.hpp"
#include "suite/drive/policy.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

/// What a worker's coroutine returns; whoever runs the worker owns it and lets it begin.
class Protocol {
  public:
    struct promise_type {
        std::exception_ptr failure;
        Protocol get_return_object() {
            return Protocol(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { failure = std::current_exception(); }
    };

    explicit Protocol(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
    Protocol(Protocol&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
    Protocol& operator=(Protocol&& other) noexcept {
        std::swap(coroutine_, other.coroutine_);
        return *this;
    }
    ~Protocol() {
        if (coroutine_) coroutine_.destroy();
    }

    /// Runs it to where it waits, or to its end. Throws what it throws.
    void resume() {
        coroutine_.resume();
        if (done() && coroutine_.promise().failure)
            std::rethrow_exception(coroutine_.promise().failure);
    }
    bool done() const { return coroutine_.done(); }

  private:
    std::coroutine_handle<promise_type> coroutine_;
};

/// Workers that do something together. `number` tells groups of a run apart.
struct Group {
    std::int64_t number = 0;
    std::vector<WorkerId> members;
};
/// How it came out. broken: a member died, or the real work threw for that reason; aborted: an
/// urgent message came.
enum class Together { done, broken, aborted };

/// Asks, inside real work and without waiting, whether a fault has struck its worker: each fault is
/// given out once, and counts from then on. May be asked on any thread of the worker.
class Strike {
  public:
    Strike() = default;  ///< nothing strikes
    explicit Strike(std::function<std::optional<Fault>(FaultKind)> take) : take_(std::move(take)) {}
    std::optional<Fault> operator()(FaultKind kind) const {
        return take_ ? take_(kind) : std::nullopt;
    }

  private:
    std::function<std::optional<Fault>(FaultKind)> take_;
};

class Worker {
  public:
    virtual ~Worker() = default;
    virtual WorkerId id() const = 0;
    /// What it was spawned with. Throws MessageError where that is no C.
    template <class C>
    C configuration() const {
        return from_json<C>(configured());
    }

    /// co_await: the next message, in order. Nothing: there will be none, go home. A preemption
    /// notice is the policy's business (LeaveRequested), not the worker's.
    auto receive() { return Receive{*this}; }
    /// The next message if it is there by now. Does not wait: one that only polls is dismissed
    /// where it waits next.
    std::optional<AnyMessage> poll() { return can_take(/*wait=*/false) ? take() : std::nullopt; }

    /// co_await: a piece of work that takes `modelled_s` on the modelled device; `real` is what is
    /// done where workers are processes. Where only the work tells how long it takes, it is done
    /// first, by whoever calls this without `real`.
    auto work(double modelled_s, std::function<void()> real = {}) {
        return Work{*this, modelled_s, std::move(real)};
    }
    /// co_await: the same without real work; ends when a message is there. True: it lasted as long
    /// as it was to.
    auto work_until_message(double modelled_s) {
        return Interruptible{*this, modelled_s, Interrupts::any_message};
    }
    /// The same, but only an urgent message (any_message.hpp) ends it.
    auto work_until_urgent(double modelled_s) {
        return Interruptible{*this, modelled_s, Interrupts::urgent_message};
    }
    /// Goes on beside what follows and ends with the message `done` to itself. `real` runs on a
    /// thread of its own where workers are processes, else at once.
    virtual void beside(double modelled_s, std::function<void()> real, AnyMessage done) = 0;

    /// co_await: where faults that are keyed by a step strike (fault_points.hpp). The name outlives
    /// the waiting.
    auto point(std::string_view phase, long step) { return Point{*this, phase, step}; }
    /// Whether a fault of that kind has struck it and was not asked for before; then it counts.
    bool struck(FaultKind kind) { return take_strike(kind).has_value(); }
    Strike strike() {
        return Strike([this](FaultKind kind) { return take_strike(kind); });
    }

    /// co_await: something that all members of the group do, at the same point of their protocols;
    /// it takes so long from when the last of them is there. `real` does it across processes, and
    /// throws cluster::CommunicatorBroken where it breaks. The group outlives the waiting.
    auto together(const Group& group, double modelled_s, std::function<void()> real = {}) {
        return Joint{*this, group, modelled_s, std::move(real)};
    }
    /// Is called with each urgent message (any_message.hpp) before it is queued, on another thread
    /// where workers are processes. What the worker waits for together with others ends aborted,
    /// interruptible work ends.
    virtual void urgent(std::function<void(const AnyMessage&)> handler) = 0;

    /// What transfers can take from here, by name; again: another content from now on.
    virtual void offer(const std::string& object, const Bytes& content) = 0;
    /// Where transfers of that object write, at their offsets.
    virtual void accept(const std::string& object, const Bytes& content) = 0;
    /// Neither offered nor accepted from now on; a transfer under way goes on.
    virtual void withdraw(const std::string& object) = 0;

    /// To the policy.
    virtual void say(AnyMessage message) = 0;

  protected:
    /// What ends interruptible work before its time.
    enum class Interrupts { any_message, urgent_message };

    virtual const nlohmann::json& configured() const = 0;
    /// True: take() has the next message, or knows that there is none. False: there is nothing yet;
    /// with `wait` there will be, and the coroutine is resumed then.
    virtual bool can_take(bool wait) = 0;
    virtual std::optional<AnyMessage> take() = 0;
    // True: it is over. False: it will be; the coroutine is resumed then.
    virtual bool begin_work(double modelled_s, const std::function<void()>& real) = 0;
    virtual bool begin_interruptible(double modelled_s, Interrupts by) = 0;
    virtual bool begin_point(std::string_view phase, long step) = 0;
    virtual bool begin_together(const Group& group, double modelled_s,
                                const std::function<void()>& real) = 0;
    /// Of the last interruptible work, and of what was done together.
    virtual bool lasted() const = 0;
    virtual Together outcome() const = 0;
    virtual std::optional<Fault> take_strike(FaultKind kind) = 0;

  private:
    struct Receive {
        Worker& worker;
        bool await_ready() { return worker.can_take(true); }
        void await_suspend(std::coroutine_handle<>) {}
        std::optional<AnyMessage> await_resume() { return worker.take(); }
    };
    struct Work {
        Worker& worker;
        double modelled_s;
        std::function<void()> real;
        bool await_ready() { return worker.begin_work(modelled_s, real); }
        void await_suspend(std::coroutine_handle<>) {}
        void await_resume() {}
    };
    struct Interruptible {
        Worker& worker;
        double modelled_s;
        Interrupts by;
        bool await_ready() { return worker.begin_interruptible(modelled_s, by); }
        void await_suspend(std::coroutine_handle<>) {}
        bool await_resume() { return worker.lasted(); }
    };
    struct Point {
        Worker& worker;
        std::string_view phase;
        long step;
        bool await_ready() { return worker.begin_point(phase, step); }
        void await_suspend(std::coroutine_handle<>) {}
        void await_resume() {}
    };
    struct Joint {
        Worker& worker;
        const Group& group;
        double modelled_s;
        std::function<void()> real;
        bool await_ready() { return worker.begin_together(group, modelled_s, real); }
        void await_suspend(std::coroutine_handle<>) {}
        Together await_resume() { return worker.outcome(); }
    };
};

}  // namespace assay::drive
