// Waiting for something that another thread completes, until it fails, takes too long, or the group
// it belongs to is broken. Torch-free.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::cluster {

/// Whether one group is broken, and the waits of its thread. Shared by the communicator, whoever
/// may abort it, and operations that outlive both.
class BreakableWait {
  public:
    /// Something under way. Complete or failed exactly once, from any thread.
    struct Completion {
        bool done = false;
        std::exception_ptr error;
    };

    void complete(Completion& completion, std::exception_ptr error = nullptr) {
        std::lock_guard lock(mutex_);
        completion.done = true;
        completion.error = std::move(error);
        changed_.notify_all();
    }
    bool done(const Completion& completion) const {
        std::lock_guard lock(mutex_);
        return completion.done;
    }

    /// The first reason stays. Wakes whoever waits.
    void break_for(const std::string& why) {
        std::lock_guard lock(mutex_);
        if (broken_) return;
        broken_ = why;
        changed_.notify_all();
        if (interrupt_) interrupt_();
    }
    bool broken() const {
        std::lock_guard lock(mutex_);
        return broken_.has_value();
    }
    void throw_if_broken() const {
        std::lock_guard lock(mutex_);
        if (broken_) throw CommunicatorBroken(*broken_);
    }

    /// Returns when `completion` is done; otherwise breaks the group and throws CommunicatorBroken.
    void wait(const Completion& completion, std::chrono::milliseconds timeout, const char* what) {
        std::unique_lock lock(mutex_);
        const bool woken = changed_.wait_for(
            lock, timeout, [&] { return completion.done || broken_.has_value(); });
        if (completion.done && !completion.error) return;
        if (!broken_) {
            broken_ = woken ? std::string(what) + ": " + text_of(completion.error)
                            : std::string(what) + ": not finished within " +
                                  std::to_string(timeout.count()) + " ms";
        }
        throw CommunicatorBroken(*broken_);
    }

    /// While the guard lives, break_for() also calls `interrupt`: for waits inside a library.
    class [[nodiscard]] InterruptGuard {
      public:
        InterruptGuard(BreakableWait& wait, std::function<void()> interrupt) : wait_(wait) {
            std::lock_guard lock(wait_.mutex_);
            if (wait_.broken_) throw CommunicatorBroken(*wait_.broken_);
            wait_.interrupt_ = std::move(interrupt);
        }
        ~InterruptGuard() {
            std::lock_guard lock(wait_.mutex_);
            wait_.interrupt_ = nullptr;
        }
        InterruptGuard(const InterruptGuard&) = delete;
        InterruptGuard& operator=(const InterruptGuard&) = delete;

      private:
        BreakableWait& wait_;
    };

  private:
    static std::string text_of(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& exception) {
            return exception.what();
        } catch (...) {
            return "unknown error";
        }
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::string> broken_;
    std::function<void()> interrupt_;
};

}  // namespace assay::cluster
