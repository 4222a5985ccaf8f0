#include "impls/hetermoe/emulated/task_executor.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "suite/cluster/pacer.hpp"

namespace assay::hetermoe {
namespace {

bool is_transfer(Queue queue) { return queue == Queue::link_out || queue == Queue::link_in; }

// What is done, and whether all has to end: the threads' common knowledge.
class Events {
  public:
    // False: a task has failed.
    bool wait_for(const std::vector<Task>& producers) {
        std::unique_lock lock(mutex_);
        const auto all_done = [&] {
            for (const Task& task : producers)
                if (!done_.contains(key(task))) return false;
            return true;
        };
        changed_.wait(lock, [&] { return failure_ || all_done(); });
        return !failure_;
    }

    void done(const Task& task) {
        const std::lock_guard lock(mutex_);
        done_.insert(key(task));
        changed_.notify_all();
    }

    // True: it is the first.
    bool fail(std::exception_ptr failure) {
        const std::lock_guard lock(mutex_);
        const bool first = !failure_;
        if (first) failure_ = std::move(failure);
        changed_.notify_all();
        return first;
    }

    std::exception_ptr failure() const { return failure_; }  // once the threads have ended

  private:
    static std::tuple<TaskKind, int, int> key(const Task& task) {
        return {task.kind, task.layer, task.micro_batch};
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<std::tuple<TaskKind, int, int>> done_;
    std::exception_ptr failure_;
};

class Executor {
  public:
    explicit Executor(const StepExecution& execution)
        : execution_(execution),
          elsewhere_(execution.side == Side::attention ? Queue::expert : Queue::attention) {}

    StepRun run() {
        const QueueOrders orders = zebra_orders(execution_.step);
        std::array<StepRun, queues> runs;
        {
            std::vector<std::jthread> threads;
            for (std::size_t queue = 0; queue < queues; ++queue)
                if (static_cast<Queue>(queue) != elsewhere_)
                    threads.emplace_back([&, queue] {
                        walk(static_cast<Queue>(queue), orders[queue], runs[queue]);
                    });
        }
        if (events_.failure()) std::rethrow_exception(events_.failure());
        StepRun all;
        for (const StepRun& run : runs) {
            all.tasks.insert(all.tasks.end(), run.tasks.begin(), run.tasks.end());
            all.late_s += run.late_s;
        }
        return all;
    }

  private:
    void walk(Queue queue, const std::vector<Task>& order, StepRun& run) {
        cluster::Pacer pacer(1);
        try {
            cluster::sleep_until(execution_.start_s);
            for (const Task& task : order) {
                if (!events_.wait_for(here(task))) return;
                const double ready_s = cluster::monotonic_s();
                run.tasks.push_back(perform(queue, task, pacer));
                if (own(queue))
                    run.late_s += std::max(
                        0.0, cluster::monotonic_s() - ready_s - execution_.modelled_s(task));
                events_.done(task);
            }
        } catch (...) {
            if (events_.fail(std::current_exception())) execution_.abort();
        }
    }

    // Whose lateness is this side's: what it computes, and sends to who only waits for it. What
    // comes in may also wait for this side's experts.
    bool own(Queue queue) const {
        return !is_transfer(queue) ||
               (queue == Queue::link_out && execution_.side == Side::attention);
    }

    // A transfer begins when both ends are there; whoever came first has waited in it.
    TaskRun perform(Queue queue, const Task& task, cluster::Pacer& pacer) {
        if (is_transfer(queue)) execution_.work(task);
        const double start_s = cluster::monotonic_s();
        pacer.start(start_s);
        if (!is_transfer(queue)) execution_.work(task);
        pacer.hold_until(execution_.modelled_s(task));
        return {task, start_s - execution_.start_s, cluster::monotonic_s() - execution_.start_s};
    }

    std::vector<Task> here(const Task& task) const {
        std::vector<Task> tasks = producers(execution_.step, task);
        std::erase_if(tasks, [&](const Task& one) { return queue_of(one.kind) == elsewhere_; });
        return tasks;
    }

    const StepExecution& execution_;
    const Queue elsewhere_;
    Events events_;
};

}  // namespace

StepRun execute(const StepExecution& execution) { return Executor(execution).run(); }

}  // namespace assay::hetermoe
