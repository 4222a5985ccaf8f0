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
#include <utility>

#include "suite/drive/messages.hpp"
#include "suite/drive/policy.hpp"

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

class Worker {
  public:
    virtual ~Worker() = default;
    virtual WorkerId id() const = 0;

    /// co_await: the next message from the policy, in order. Nothing: there will be none, go home.
    /// A preemption notice is the policy's business (LeaveRequested), not the worker's.
    auto receive() { return Receive{*this}; }

    /// co_await: a piece of work that takes `modelled_s` on the modelled device; `real` is what is
    /// done where workers are processes.
    auto work(double modelled_s, std::function<void()> real = {}) {
        return Work{*this, modelled_s, std::move(real)};
    }

    template <Message M>
    void say(const M& message) {
        say(to_message(message));
    }
    virtual void say(const nlohmann::json& message) = 0;

  protected:
    /// True: take() has the next message, or knows that there is none. False: it will; the
    /// coroutine is resumed then.
    virtual bool can_take() = 0;
    virtual std::optional<nlohmann::json> take() = 0;
    /// True: the work is done. False: it will be; the coroutine is resumed then.
    virtual bool do_work(double modelled_s, const std::function<void()>& real) = 0;

  private:
    struct Receive {
        Worker& worker;
        bool await_ready() { return worker.can_take(); }
        void await_suspend(std::coroutine_handle<>) {}
        std::optional<nlohmann::json> await_resume() { return worker.take(); }
    };
    struct Work {
        Worker& worker;
        double modelled_s;
        std::function<void()> real;
        bool await_ready() { return worker.do_work(modelled_s, real); }
        void await_suspend(std::coroutine_handle<>) {}
        void await_resume() {}
    };
};

/// A worker by what it does: a function, so that it can be started anywhere.
using WorkerProtocol = Protocol (*)(Worker&);

}  // namespace assay::drive
