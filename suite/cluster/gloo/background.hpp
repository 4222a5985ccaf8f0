// What goes on with process groups of c10d when the caller has turned away. (Its process group
// cannot be interrupted: an operation that waits for a silent peer ends with its timeout, and the
// destructor waits for it. So a broken group is left to a thread that destroys it when the
// operation has ended by itself.)
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "suite/cluster/collectives/breakable_wait.hpp"

namespace assay::cluster {

using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using Completion = BreakableWait::Completion;

/// Threads that make groups, and one that closes them when they are not busy any more. Closing
/// waits for a turn of Gloo's event loop per peer (up to 10 ms each), which nobody who regroups has
/// to spare.
///
/// All of it ends before the statics of libtorch go, as far as it can be ended. The object itself
/// stays: static communicators may be destroyed later.
class Background {
  public:
    static Background& instance();

    /// Runs `work` on a thread of its own.
    void start(std::function<void()> work);
    /// `last`: the newest operation; null when there was none.
    void close(Group group, std::shared_ptr<BreakableWait> state, std::shared_ptr<Completion> last);
    bool ending() const { return ending_; }

  private:
    struct Entry {
        Group group;
        std::shared_ptr<BreakableWait> state;
        std::shared_ptr<Completion> last;
        bool busy() const { return last && !state->done(*last); }
    };

    Background() : closer_([this] { close_groups(); }) {}
    void end();
    void close_groups();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Entry> arrived_;
    std::list<Entry> busy_;  ///< the closer's own
    long makers_ = 0;
    std::atomic<bool> ending_{false};
    std::thread closer_;  // last: it uses the others
};

}  // namespace assay::cluster
