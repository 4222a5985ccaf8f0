#include "suite/cluster/task_queue.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace assay::cluster {

struct TaskQueue::Impl {
    struct Task {
        std::vector<Event> after;
        std::function<void()> run;
        std::promise<void> done;
    };

    Impl() : thread([this] { work(); }) {}

    void work() {
        while (auto task = next()) {
            if (failure) {
                task->done.set_exception(failure);
                continue;
            }
            try {
                for (const Event& event : task->after) event.get();
                task->run();
            } catch (...) {
                failure = std::current_exception();
                task->done.set_exception(failure);
                continue;
            }
            task->run = {};  // what it holds goes before anybody learns that it is done
            task->done.set_value();
        }
    }

    std::optional<Task> next() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return closed || !waiting.empty(); });
        if (closed) return std::nullopt;
        Task task = std::move(waiting.front());
        waiting.pop_front();
        return task;
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> waiting;
    bool closed = false;
    std::exception_ptr failure;  // of the thread alone
    std::thread thread;          // last: it uses the others
};

TaskQueue::TaskQueue() : impl_(std::make_unique<Impl>()) {}

TaskQueue::~TaskQueue() {
    {
        std::lock_guard lock(impl_->mutex);
        impl_->closed = true;
    }
    impl_->changed.notify_one();
    impl_->thread.join();
}

Event TaskQueue::enqueue(std::vector<Event> after, std::function<void()> task) {
    std::promise<void> done;
    Event event = done.get_future().share();
    {
        std::lock_guard lock(impl_->mutex);
        impl_->waiting.push_back({std::move(after), std::move(task), std::move(done)});
    }
    impl_->changed.notify_one();
    return event;
}

}  // namespace assay::cluster
