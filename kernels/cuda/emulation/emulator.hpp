// Runs a block's threads one at a time, each with a stack of its own, until it waits for others.
// Which of the ready threads is next, and which warps fall behind, is drawn at random, and block
// memory starts as NaN, so that a missing barrier or an unwritten value shows as a wrong result.
// Blocks run one after the other, in random order, or a few side by side, thread by thread; races
// of single accesses between blocks do not show.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace assay::kernels::cuda {

struct Grid {
    int x = 1, y = 1, z = 1;
};

class Emulator {
  public:
    explicit Emulator(std::uint64_t seed) : random_(seed) {}

    /// kernel() is what each thread does. `side_by_side`: blocks that run at a time. Throws
    /// std::logic_error where threads wait for what cannot come: a barrier that some skip, a warp
    /// that is torn apart, or a block that is not there.
    void launch(const Grid& grid, int threads, std::size_t block_memory_bytes,
                const std::function<void()>& kernel, int side_by_side = 1);

    /// The emulator of the calling thread's launch.
    static Emulator& running();
    struct At {
        int x, y, z;
    };
    int thread_index() const { return current_ % block_threads_; }
    At block_index() const { return blocks_[block_of(current_)]; }
    At blocks() const { return grid_; }
    float* block_memory() { return block_memory_[block_of(current_)].data(); }
    void barrier();
    void let_others();                ///< whoever waits for another block without a barrier
    int block_count(bool condition);  ///< a barrier, too
    /// Adds up each of the values over the lanes, in a butterfly's order.
    void warp_sum(float* values, int count);
    std::uint32_t warp_ballot(bool condition);
    /// all: [lanes][count], what each lane has.
    void warp_gather(const std::uint32_t* mine, int count, std::uint32_t* all);
    /// Copies that a thread asks for happen no earlier than it waits for their group. From nullptr:
    /// zeros.
    void copy_later(void* to, const void* from, std::size_t bytes);
    void end_of_copies();              ///< those since the last time are a group
    void wait_for_copies(int groups);  ///< until at most so many, the latest, are left
    /// What a thread begins happens when it waits: what it needs must still be there then.
    void work_later(std::function<void()> work);
    void wait_for_work();
    /// What the kernel before still has to do when the next launch begins: done when a thread of
    /// that first waits for it, or at its end.
    void kernel_before(std::function<void()> rest) { before_ = std::move(rest); }
    void end_kernel_before();

  private:
    enum class State { ready, at_barrier, at_count, at_sum, at_ballot, at_gather, finished };
    struct Thread {
        std::unique_ptr<std::byte[]> stack;
        ucontext_t first{};  ///< where it starts
        sigjmp_buf place;    ///< where it goes on
        bool started = false;
        State state = State::ready;
        float* values = nullptr;
        int count = 0;
        std::uint32_t ballot = 0;  ///< the condition, then everyone's or their number
        const std::uint32_t* mine = nullptr;
        std::uint32_t* all = nullptr;
        struct Copy {
            void* to;
            const void* from;
            std::size_t bytes;
        };
        std::deque<std::vector<Copy>> copies;  ///< groups, the last one open
        std::vector<std::function<void()>> work;
    };

    std::size_t block_of(int thread) const {
        return static_cast<std::size_t>(thread / block_threads_);
    }
    void run_blocks();
    void resume(Thread& thread);
    void start(Thread& thread);
    void wait(State why);
    bool release();
    bool release_block(std::size_t block);
    bool release_warp(int first);
    static void enter();

    std::mt19937_64 random_;
    std::vector<Thread> threads_;
    std::vector<std::vector<float>> block_memory_;  ///< by block of those side by side
    sigjmp_buf scheduler_;
    ucontext_t never_resumed_{};
    const std::function<void()>* kernel_ = nullptr;
    std::exception_ptr failure_;
    std::function<void()> before_;
    int current_ = 0, block_threads_ = 0;  ///< threads are counted over all blocks side by side
    bool gave_way_ = false;
    std::vector<At> blocks_;  ///< side by side
    At grid_{};
};

}  // namespace assay::kernels::cuda
