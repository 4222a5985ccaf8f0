// What a stream is on a GPU: operations that run one after the other beside whoever asked for them,
// each once the events it waits for have happened. For collectives that overlap computation: a
// communicator per queue, and the same order of operations on every rank.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <vector>

namespace assay::cluster {

/// Has happened, or will; get() waits, and throws where it failed. A promise that goes away without
/// a value fails its event.
using Event = std::shared_future<void>;

class TaskQueue {
  public:
    TaskQueue();
    /// Waits for the task that runs; the events of those behind it fail. What they wait for must
    /// happen or fail some day.
    ~TaskQueue();
    TaskQueue(const TaskQueue&) = delete;
    TaskQueue& operator=(const TaskQueue&) = delete;

    /// Runs `task` on the queue's thread, after those enqueued before it and after every event of
    /// `after`. The event: it has run. Where it throws, or an event of `after` failed, it and
    /// everything behind it fail for that reason, and none of those is run.
    Event enqueue(std::vector<Event> after, std::function<void()> task);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cluster
