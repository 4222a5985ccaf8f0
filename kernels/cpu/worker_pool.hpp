// Threads that share the items of a region of a few microseconds.
//
// A region is announced by a number that every worker watches: spinning for a while after the last
// region, since decoding starts one after the other, then parked in the kernel. The caller works
// too and does not wait for workers that come late: it closes the region once no item is left and
// waits only for those inside. On a busy machine a region therefore costs no more than on one
// thread.
//
// Each thread begins with a share of its own, consecutive items in order, so that what it asks of
// memory ahead is what it comes to, and the items around a border are written by two threads at
// most; then it takes half of what another has left. (One that looks while another moves its half
// may find none, and leaves early.) Which thread computes an item is so left to chance; results
// must not depend on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace assay::kernels {

/// Cores that this thread's affinity mask allows; at least 1.
int allowed_cores();

class WorkerPool {
  public:
    /// threads: with the caller; 0: one for each allowed core. Throws std::system_error when the
    /// threads cannot be had. A forked child has no workers: make a pool after fork().
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int threads() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls work(item) once for each item in [0, items), on all threads, and returns when all are
    /// done. One region at a time: not to be called from work, nor by two threads at once. work
    /// must not throw.
    template <class Work>
    void run(int items, const Work& work) {
        const auto call = [](const void* target, int item) {
            (*static_cast<const Work*>(target))(item);
        };
        run_erased(items, &work, call);
    }

  private:
    using Call = void (*)(const void* target, int item);

    void run_erased(int items, const void* target, Call call);
    /// thread: 0 for the caller.
    void take_items(int thread);
    void stop();
    void work_until_stopped(int thread);
    /// Waits until the region's number is not `seen` any more; returns the new one.
    std::uint32_t wait_for_change(std::uint32_t seen);

    static constexpr int line = 64;  ///< bytes of a cache line: what is written apart lies apart
    alignas(line) std::atomic<std::uint32_t> region_{0};  ///< odd: open
    std::atomic<int> parked_{0};
    std::atomic<bool> stopping_{false};
    alignas(line) std::atomic<int> inside_{0};
    /// Items of one thread that nobody works on yet.
    class alignas(line) Share {
      public:
        void set(std::uint32_t first, std::uint32_t behind);
        /// None left: -1.
        int take();
        /// Moves the later half of another's items, rounded up, here, where none are left.
        bool take_half_of(Share& other);

      private:
        std::atomic<std::uint64_t> items_{0};  // the first; one behind the last in the upper half
    };

    alignas(line) std::unique_ptr<Share[]> shares_;  ///< of each thread
    const void* target_ = nullptr;
    Call call_ = nullptr;
    bool crowded_ = false;  ///< more threads than cores: spinning would keep others from working
    std::vector<std::thread> workers_;
};

}  // namespace assay::kernels
