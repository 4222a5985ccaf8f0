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

TEST(Emulator, CopiesArriveNoEarlierThanTheyAreWaitedFor) {
    alignas(16) static const float from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Emulator emulator(7);
    emulator.launch({}, 32, 3 * 32 * 16, [] {
        float* const mine = block_memory() + thread_index() * 12;
        copy_piece(mine, from, true);
        end_of_copies();
        copy_piece(mine + 4, from + 4, true);
        copy_piece(mine + 8, from, false);
        EXPECT_TRUE(std::isnan(mine[0]));
        end_of_copies();
        wait_for_copies<1>();
        EXPECT_EQ(mine[3], 4);
        EXPECT_TRUE(std::isnan(mine[4]));
        wait_for_copies<0>();
        EXPECT_EQ(mine[4], 5);
        EXPECT_EQ(mine[8], 0);  // nothing there: zeros
    });
}

TEST(Emulator, MatricesLieInLanesAsTheTensorCoresWantThem) {
    Emulator emulator(8);
    emulator.launch({}, 32, 32 * 16, [] {
        auto* const lines = reinterpret_cast<std::uint16_t*>(block_memory());
        const int lane = thread_index();
        for (int i = 0; i < 8; ++i)  // matrix, line, column
            lines[lane * 8 + i] = static_cast<std::uint16_t>(lane / 8 * 100 + lane % 8 * 10 + i);
        block_barrier();
        std::uint32_t words[4];
        load_matrices(lines + lane * 8, words);
        const auto g = static_cast<std::uint32_t>(lane / 4),
                   q = static_cast<std::uint32_t>(lane % 4);
        EXPECT_EQ(words[2] & 0xffffu, 200 + g * 10 + 2 * q);
        EXPECT_EQ(words[2] >> 16, 200 + g * 10 + 2 * q + 1);
        load_matrices_across(lines + lane * 8, words);
        EXPECT_EQ(words[1] & 0xffffu, 100 + 2 * q * 10 + g);
        EXPECT_EQ(words[1] >> 16, 100 + (2 * q + 1) * 10 + g);
    });
}

}  // namespace
}  // namespace assay::kernels::cuda
