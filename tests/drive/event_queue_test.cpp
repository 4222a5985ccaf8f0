// Virtual time: order, cancelling, and that nothing else decides.
#include "suite/drive/simulated/event_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::drive {
namespace {

using testing::ElementsAre;

TEST(EventQueue, WhatIsDueFirstHappensFirstAndEqualsInTheOrderAsked) {
    EventQueue queue;
    std::vector<std::string> seen;
    queue.at(2, [&] { seen.push_back("late"); });
    queue.at(1, [&] { seen.push_back("first"); });
    queue.at(1, [&] {
        seen.push_back("second");
        queue.after(0, [&] { seen.push_back("at once"); });
    });
    queue.at(1, [&] { seen.push_back("third"); });
    while (queue.next()) {
    }
    EXPECT_THAT(seen, ElementsAre("first", "second", "third", "at once", "late"));
    EXPECT_EQ(queue.now(), 2);
    EXPECT_EQ(queue.happened(), 5U);
}

TEST(EventQueue, ThePastIsNow) {
    EventQueue queue;
    double when = -1;
    queue.at(5, [&] { queue.at(3, [&] { when = queue.now(); }); });
    while (queue.next()) {
    }
    EXPECT_EQ(when, 5);
    EXPECT_THROW(queue.at(std::nan(""), [] {}), std::invalid_argument);
}

TEST(EventQueue, WhatIsCancelledDoesNotHappenAndTwiceIsAsOnce) {
    EventQueue queue;
    int seen = 0;
    const auto first = queue.at(1, [&] { ++seen; });
    const auto second = queue.at(1, [&] { ++seen; });
    queue.cancel(first);
    queue.cancel(first);
    EXPECT_TRUE(queue.next());
    queue.cancel(second);  // has happened
    EXPECT_FALSE(queue.next());
    EXPECT_EQ(seen, 1);
}

TEST(EventQueue, StopsAtTheTimeItIsGiven) {
    EventQueue queue;
    queue.at(1, [] {});
    queue.at(3, [] {});
    EXPECT_TRUE(queue.next(2));
    EXPECT_FALSE(queue.next(2));
    EXPECT_EQ(queue.now(), 1);
    EXPECT_FALSE(queue.empty());
}

// Against a sorted list of the same events.
TEST(EventQueue, ManyEventsComeInOrder) {
    EventQueue queue;
    std::mt19937_64 random(7);
    std::vector<std::pair<double, int>> asked, seen;
    for (int i = 0; i < 2000; ++i) {
        const double when = static_cast<double>(random() % 50);
        const auto id = queue.at(when, [&, when, i] { seen.emplace_back(when, i); });
        if (random() % 3 == 0)
            queue.cancel(id);
        else
            asked.emplace_back(when, i);
    }
    std::sort(asked.begin(), asked.end());  // numbers ascend: equal times keep their order
    while (queue.next()) {
    }
    EXPECT_EQ(seen, asked);
}

}  // namespace
}  // namespace assay::drive
