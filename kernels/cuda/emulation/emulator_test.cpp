// The emulator itself: exchanges between lanes, and that it finds what a GPU would get wrong.
#include "kernels/cuda/emulation/emulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/device/machine.hpp"

namespace assay::kernels::cuda {
namespace {

TEST(Emulator, RunsEveryThreadOfEveryBlockOnce) {
    std::multiset<std::tuple<int, int, int, int>> seen;
    Emulator emulator(1);
    emulator.launch({2, 3, 2}, 64, 0, [&] {
        const Emulator& here = Emulator::running();
        const Emulator::At at = here.block_index();
        seen.insert({at.x, at.y, at.z, here.thread_index()});
    });
    ASSERT_EQ(seen.size(), 2u * 3u * 2u * 64u);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
}

TEST(Emulator, SumsAndBallotsWithinWarps) {
    Emulator emulator(2);
    emulator.launch({}, 96, 0, [] {
        Emulator& here = Emulator::running();
        const int thread = here.thread_index();
        float values[2] = {static_cast<float>(thread), 1.0f};
        here.warp_sum(values, 2);
        const int warp = thread / 32;
        EXPECT_EQ(values[0], static_cast<float>(32 * 32 * warp + 31 * 16));
        EXPECT_EQ(values[1], 32.0f);
        EXPECT_EQ(here.warp_ballot(thread % 3 == 0) >> (thread % 32) & 1u,
                  thread % 3 == 0 ? 1u : 0u);
    });
}

/// Passes each thread's number to its neighbour through block memory.
int wrong_neighbours(bool with_barrier, std::uint64_t seed) {
    int wrong = 0;
    Emulator emulator(seed);
    emulator.launch({}, 128, 128 * sizeof(float), [&] {
        Emulator& here = Emulator::running();
        const int thread = here.thread_index();
        here.block_memory()[thread] = static_cast<float>(thread);
        if (with_barrier) here.barrier();
        const int neighbour = (thread + 1) % 128;
        if (here.block_memory()[neighbour] != static_cast<float>(neighbour)) ++wrong;
    });
    return wrong;
}

TEST(Emulator, ShowsAMissingBarrier) {
    EXPECT_EQ(wrong_neighbours(true, 3), 0);
    EXPECT_GT(wrong_neighbours(false, 3), 0);
}

TEST(Emulator, RefusesABarrierThatSomeSkip) {
    Emulator emulator(4);
    EXPECT_THROW(emulator.launch({}, 64, 0,
                                 [] {
                                     Emulator& here = Emulator::running();
                                     if (here.thread_index() < 40) here.barrier();
                                 }),
                 std::logic_error);
    EXPECT_THROW(emulator.launch({}, 64, 0,
                                 [] {
                                     Emulator& here = Emulator::running();
                                     if (here.thread_index() != 3) here.warp_ballot(true);
                                 }),
                 std::logic_error);
}

TEST(Emulator, HandsOnWhatAThreadThrows) {
    Emulator emulator(5);
    EXPECT_THROW(emulator.launch({}, 32, 0, [] { throw std::invalid_argument("here"); }),
                 std::invalid_argument);
}

TEST(Emulator, BlocksSideBySideSeeEachOther) {
    int came = 0;
    std::vector<int> seen(4, -1);
    Emulator emulator(3);
    const auto meet = [&] {
        if (thread_index() == 0) ++came;
        if (thread_index() == 33) {
            wait_for_count(&came, 4);
            seen[static_cast<std::size_t>(block_index().x)] = came;
        }
        block_barrier();
    };
    emulator.launch({4, 1, 1}, 64, 0, meet, 4);
    EXPECT_EQ(seen, std::vector<int>(4, 4));
    came = 0;
    EXPECT_THROW(emulator.launch({4, 1, 1}, 64, 0, meet, 3), std::logic_error)
        << "the fourth does not come";
}

}  // namespace
}  // namespace assay::kernels::cuda
