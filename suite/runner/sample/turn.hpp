// Whose turn it is, of threads that each listen to a sample.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace assay::runner {

/// A lock that is given in the order in which it was asked for: with std::mutex, who listens to a
/// sample that writes without pause would take it again before anybody else wakes up.
class Turn {
  public:
    void lock() {
        std::unique_lock hold(mutex_);
        const std::uint64_t mine = asked_++;
        changed_.wait(hold, [&] { return served_ == mine; });
    }
    void unlock() {
        {
            const std::scoped_lock hold(mutex_);
            ++served_;
        }
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t asked_ = 0, served_ = 0;
};

}  // namespace assay::runner
