#include "suite/runner/sample/turn.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace assay::runner {
namespace {

TEST(Turn, WhoAsksAgainAtOnceComesAfterWhoWaits) {
    Turn turn;
    std::atomic<bool> done = false;
    int others = 0;
    turn.lock();
    std::thread other([&] {
        while (!done) {
            turn.lock();
            ++others;
            turn.unlock();
        }
    });
    for (int mine = 0; mine < 200; ++mine) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the other waits by now
        turn.unlock();
        turn.lock();
    }
    done = true;
    turn.unlock();
    other.join();
    EXPECT_GT(others, 100);
}

}  // namespace
}  // namespace assay::runner
