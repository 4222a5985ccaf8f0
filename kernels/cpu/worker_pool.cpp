#include "kernels/cpu/worker_pool.hpp"

#include <sched.h>

#include <chrono>

namespace assay::kernels {
namespace {

using Clock = std::chrono::steady_clock;

/// Longer than what lies between two regions of a decoded token, far shorter than what anybody
/// would notice of a core kept busy.
constexpr std::chrono::microseconds spinning{100};
constexpr int looks_between_clocks = 64;

void pause_shortly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

}  // namespace

int allowed_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    const unsigned all = std::thread::hardware_concurrency();
    return all > 0 ? static_cast<int>(all) : 1;
}

WorkerPool::WorkerPool(int threads) {
    const int cores = allowed_cores();
    if (threads <= 0) threads = cores;
    crowded_ = threads > cores;
    shares_ = std::make_unique<Share[]>(static_cast<std::size_t>(threads));
    workers_.reserve(static_cast<std::size_t>(threads - 1));
    try {
        for (int i = 1; i < threads; ++i)
            workers_.emplace_back([this, i] { work_until_stopped(i); });
    } catch (...) {
        stop();
        throw;
    }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
    stopping_.store(true);
    region_.fetch_add(2);
    region_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::Share::set(std::uint32_t first, std::uint32_t behind) {
    items_.store(std::uint64_t{behind} << 32 | first, std::memory_order_relaxed);
}

int WorkerPool::Share::take() {
    std::uint64_t items = items_.load(std::memory_order_relaxed);
    for (;;) {
        const auto first = static_cast<std::uint32_t>(items);
        if (first == static_cast<std::uint32_t>(items >> 32)) return -1;
        if (items_.compare_exchange_weak(items, items + 1, std::memory_order_relaxed))
            return static_cast<int>(first);
    }
}

// Only who owns a share ever makes it other than smaller, and only when it is empty.
bool WorkerPool::Share::take_half_of(Share& other) {
    std::uint64_t items = other.items_.load(std::memory_order_relaxed);
    for (;;) {
        const auto first = static_cast<std::uint32_t>(items);
        const auto behind = static_cast<std::uint32_t>(items >> 32);
        if (first == behind) return false;
        const std::uint32_t middle = first + (behind - first) / 2;
        const std::uint64_t left = std::uint64_t{middle} << 32 | first;
        if (!other.items_.compare_exchange_weak(items, left, std::memory_order_relaxed)) continue;
        set(middle, behind);
        return true;
    }
}

void WorkerPool::take_items(int thread) {
    const auto share = [&](int of) -> Share& { return shares_[static_cast<std::size_t>(of)]; };
    Share& own = share(thread);
    const auto take_from_another = [&] {
        for (int other = thread + 1; other < thread + threads(); ++other)
            if (own.take_half_of(share(other % threads()))) return true;
        return false;
    };
    do
        for (int item = own.take(); item >= 0; item = own.take()) call_(target_, item);
    while (take_from_another());
}

void WorkerPool::run_erased(int items, const void* target, Call call) {
    if (workers_.empty() || items <= 1) {
        for (int item = 0; item < items; ++item) call(target, item);
        return;
    }
    target_ = target;
    call_ = call;
    // Rounded up: of few items the caller, who is there already, has one.
    const auto share_begin = [&](int thread) {
        return static_cast<std::uint32_t>((std::int64_t{items} * thread + threads() - 1) /
                                          threads());
    };
    for (int t = 0; t < threads(); ++t)
        shares_[static_cast<std::size_t>(t)].set(share_begin(t), share_begin(t + 1));
    // Sequentially consistent with the counting in wait_for_change(): either the worker sees the
    // new number and does not park, or we see that it is parked.
    region_.fetch_add(1);
    if (parked_.load() > 0) region_.notify_all();
    take_items(0);
    // The same with inside_: a worker that did not see this is counted before we look.
    region_.fetch_add(1);
    for (int looks = 0; inside_.load() > 0; ++looks) {
        if (crowded_ || looks > 10'000)
            std::this_thread::yield();
        else
            pause_shortly();
    }
}

void WorkerPool::work_until_stopped(int thread) {
    std::uint32_t seen = 0;
    while (!stopping_.load(std::memory_order_relaxed)) {
        if (seen % 2 == 1) {
            inside_.fetch_add(1);
            if (region_.load() == seen) take_items(thread);
            inside_.fetch_sub(1);
        }
        seen = wait_for_change(seen);
    }
}

std::uint32_t WorkerPool::wait_for_change(std::uint32_t seen) {
    if (!crowded_) {
        const Clock::time_point end = Clock::now() + spinning;
        do {
            for (int look = 0; look < looks_between_clocks; ++look) {
                const std::uint32_t now = region_.load(std::memory_order_acquire);
                if (now != seen) return now;
                pause_shortly();
            }
        } while (Clock::now() < end);
    }
    parked_.fetch_add(1);
    region_.wait(seen);
    parked_.fetch_sub(1);
    return region_.load();
}

}  // namespace assay::kernels
