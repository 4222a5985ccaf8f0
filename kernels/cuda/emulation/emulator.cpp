#include "kernels/cuda/emulation/emulator.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace assay::kernels::cuda {
namespace {

constexpr int warp = 32;
constexpr std::size_t stack_bytes = 96 * 1024;
/// Rounds in which threads only gave way to others, after which nobody can be waited for.
constexpr int most_idle_rounds = 10000;
Emulator* running_emulator = nullptr;

}  // namespace

Emulator& Emulator::running() { return *running_emulator; }

void Emulator::launch(const Grid& grid, int threads, std::size_t block_memory_bytes,
                      const std::function<void()>& kernel, int side_by_side) {
    if (threads < warp || threads % warp != 0 || grid.x < 1 || grid.y < 1 || grid.z < 1)
        throw std::logic_error("a launch needs whole warps and at least one block");
    running_emulator = this;
    kernel_ = &kernel;
    grid_ = {grid.x, grid.y, grid.z};
    block_threads_ = threads;

    std::vector<int> order(static_cast<std::size_t>(grid.x * grid.y * grid.z));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    while (!order.empty()) {
        blocks_.clear();
        for (int i = 0; i < side_by_side && !order.empty(); ++i, order.pop_back()) {
            const int block = order.back();
            blocks_.push_back({block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y});
        }
        const std::vector<float> fresh(block_memory_bytes / sizeof(float),
                                       std::numeric_limits<float>::quiet_NaN());
        block_memory_.assign(blocks_.size(), fresh);
        run_blocks();
    }
    running_emulator = nullptr;
    end_kernel_before();
}

void Emulator::end_kernel_before() {
    if (const auto rest = std::exchange(before_, nullptr)) rest();
}

// A thread's stack serves one block after the other.
void Emulator::enter() {
    Emulator& emulator = running();
    for (;;) {
        try {
            (*emulator.kernel_)();
        } catch (...) {  // must not leave this stack
            emulator.failure_ = std::current_exception();
        }
        emulator.wait(State::finished);
    }
}

// No local variables: this call never returns, which a memory checker would not understand.
void Emulator::start(Thread& thread) {
    getcontext(&thread.first);
    thread.first.uc_stack.ss_sp = thread.stack.get();
    thread.first.uc_stack.ss_size = stack_bytes;
    thread.first.uc_link = nullptr;
    makecontext(&thread.first, enter, 0);
    thread.started = true;
    swapcontext(&never_resumed_, &thread.first);
}

// Jumps, which swapcontext() would make with a system call each.
void Emulator::resume(Thread& thread) {
    if (sigsetjmp(scheduler_, 0) != 0) return;
    if (thread.started) siglongjmp(thread.place, 1);
    start(thread);
}

void Emulator::wait(State why) {
    Thread& thread = threads_[static_cast<std::size_t>(current_)];
    thread.state = why;
    if (sigsetjmp(thread.place, 0) == 0) siglongjmp(scheduler_, 1);
}

void Emulator::run_blocks() {
    const std::size_t wanted = blocks_.size() * static_cast<std::size_t>(block_threads_);
    if (threads_.size() != wanted) {
        threads_ = std::vector<Thread>(wanted);
        for (Thread& thread : threads_) thread.stack.reset(new std::byte[stack_bytes]);
    }
    // What an earlier block left hanging is dropped with its stack.
    for (Thread& thread : threads_) {
        thread.started = thread.started && thread.state == State::finished;
        thread.state = State::ready;
        thread.copies.clear();
        thread.work.clear();
    }
    std::vector<int> order(threads_.size());
    std::iota(order.begin(), order.end(), 0);
    bool held_back = false, released = false;
    int idle_rounds = 0;
    do {
        std::shuffle(order.begin(), order.end(), random_);
        // Half of the warps fall behind, so that what another overwrites too early is missed.
        const std::uint64_t held_warps = random_();
        held_back = gave_way_ = false;
        for (const int index : order) {
            Thread& thread = threads_[static_cast<std::size_t>(index)];
            if (thread.state != State::ready) continue;
            if (held_warps >> (index / warp % 64) & 1u) {
                held_back = true;
                continue;
            }
            current_ = index;
            resume(thread);
        }
        released = release();
        idle_rounds = released || held_back ? idle_rounds : idle_rounds + 1;
    } while (released || held_back || (gave_way_ && idle_rounds < most_idle_rounds));
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    for (const Thread& thread : threads_)
        if (thread.state != State::finished)
            throw std::logic_error("threads of a block wait for others that do not come");
}

bool Emulator::release() {
    bool released = false;
    for (int first = 0; first < static_cast<int>(threads_.size()); first += warp)
        released = release_warp(first) || released;
    for (std::size_t block = 0; block < blocks_.size(); ++block)
        released = release_block(block) || released;
    return released;
}

bool Emulator::release_block(std::size_t block) {
    const auto begin = threads_.begin() + static_cast<std::ptrdiff_t>(block) * block_threads_,
               end = begin + block_threads_;
    bool released = false;
    for (const State why : {State::at_barrier, State::at_count}) {
        const auto waits = [why](const Thread& thread) { return thread.state == why; };
        if (!std::all_of(begin, end, waits)) continue;
        std::uint32_t holds = 0;
        for (auto thread = begin; thread != end; ++thread) holds += thread->ballot;
        for (auto thread = begin; thread != end; ++thread) {
            if (why == State::at_count) thread->ballot = holds;
            thread->state = State::ready;
        }
        released = true;
    }
    return released;
}

bool Emulator::release_warp(int first) {
    const auto begin = threads_.begin() + first, end = begin + warp;
    const State why = begin->state;
    const int count = begin->count;
    const auto alike = [&](const Thread& thread) {
        return thread.state == why && thread.count == count;
    };
    if ((why != State::at_sum && why != State::at_ballot && why != State::at_gather) ||
        !std::all_of(begin, end, alike))
        return false;
    if (why == State::at_gather)
        for (auto to = begin; to != end; ++to)
            for (auto from = begin; from != end; ++from)
                std::copy_n(from->mine, count, to->all + (from - begin) * count);
    if (why == State::at_sum)
        for (int i = 0; i < count; ++i)
            for (int distance = warp / 2; distance > 0; distance /= 2) {
                float before[warp];
                for (int lane = 0; lane < warp; ++lane) before[lane] = begin[lane].values[i];
                for (int lane = 0; lane < warp; ++lane)
                    begin[lane].values[i] = before[lane] + before[lane ^ distance];
            }
    std::uint32_t bits = 0;
    for (int lane = 0; lane < warp; ++lane) bits |= begin[lane].ballot << lane;
    for (auto thread = begin; thread != end; ++thread) {
        thread->ballot = bits;
        thread->state = State::ready;
    }
    return true;
}

void Emulator::barrier() { wait(State::at_barrier); }

void Emulator::let_others() {
    gave_way_ = true;
    wait(State::ready);
}

int Emulator::block_count(bool condition) {
    Thread& thread = threads_[static_cast<std::size_t>(current_)];
    thread.ballot = condition;
    wait(State::at_count);
    return static_cast<int>(threads_[static_cast<std::size_t>(current_)].ballot);
}

void Emulator::warp_sum(float* values, int count) {
    Thread& thread = threads_[static_cast<std::size_t>(current_)];
    thread.values = values;
    thread.count = count;
    wait(State::at_sum);
}

void Emulator::warp_gather(const std::uint32_t* mine, int count, std::uint32_t* all) {
    Thread& thread = threads_[static_cast<std::size_t>(current_)];
    thread.mine = mine;
    thread.all = all;
    thread.count = count;
    wait(State::at_gather);
}

void Emulator::copy_later(void* to, const void* from, std::size_t bytes) {
    auto& copies = threads_[static_cast<std::size_t>(current_)].copies;
    if (copies.empty()) copies.emplace_back();
    copies.back().push_back({to, from, bytes});
}

void Emulator::end_of_copies() {
    auto& copies = threads_[static_cast<std::size_t>(current_)].copies;
    if (copies.empty()) copies.emplace_back();
    copies.emplace_back();
}

void Emulator::wait_for_copies(int groups) {
    auto& copies = threads_[static_cast<std::size_t>(current_)].copies;
    while (static_cast<int>(copies.size()) > groups + 1) {  // the open one is no group yet
        for (const auto& [to, from, bytes] : copies.front()) {
            if (from)
                std::memcpy(to, from, bytes);
            else
                std::memset(to, 0, bytes);
        }
        copies.pop_front();
    }
}

void Emulator::work_later(std::function<void()> work) {
    threads_[static_cast<std::size_t>(current_)].work.push_back(std::move(work));
}

void Emulator::wait_for_work() {
    auto& all = threads_[static_cast<std::size_t>(current_)].work;
    for (const std::function<void()>& work : all) work();
    all.clear();
}

std::uint32_t Emulator::warp_ballot(bool condition) {
    Thread& thread = threads_[static_cast<std::size_t>(current_)];
    thread.ballot = condition;
    thread.count = 0;
    wait(State::at_ballot);
    return threads_[static_cast<std::size_t>(current_)].ballot;
}

}  // namespace assay::kernels::cuda
