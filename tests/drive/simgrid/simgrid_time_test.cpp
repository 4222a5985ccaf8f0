// Virtual time on SimGrid: what happens when, as the queue of events has it; one engine per
// process.
#include "suite/drive/simgrid/simgrid_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <random>

#include "suite/base/error.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "tests/drive/simgrid/simgrid_time_fixture.hpp"

namespace assay::drive {
namespace {

using ::testing::ElementsAre;
using testing::in_own_process;
using testing::one_switch;
using testing::racks;
using End = SimGridTime::End;

TEST_F(SimGridTimeTest, DoesWhatTheQueueOfEventsDoes) {
    // A script of events that ask for and cancel others, until nothing is left.
    const auto course = [](VirtualTime& time, unsigned seed) {
        std::mt19937_64 random(seed);
        std::vector<double> seen;
        std::vector<VirtualTime::Id> ids;
        std::function<void(int)> happen = [&](int name) {
            seen.insert(seen.end(), {time.now(), static_cast<double>(name)});
            for (int i = 0; i < 2 && ids.size() < 300; ++i) {
                const double when = time.now() + static_cast<double>(random() % 5) / 4 - 0.25;
                const int next = static_cast<int>(ids.size());
                ids.push_back(time.at(when, [&, next] { happen(next); }));
            }
            if (random() % 3 == 0) time.cancel(ids[random() % ids.size()]);
        };
        ids.push_back(time.at(1, [&] { happen(0); }));
        for (double until = 0.5; !time.empty(); until += 0.5) {
            while (time.next(until)) {
            }
            seen.push_back(time.now());
        }
        seen.push_back(static_cast<double>(time.happened()));
        return seen;
    };
    expect(one_switch(1), 1, [&](SimGridTime&) {});
    for (unsigned seed = 0; seed < 5; ++seed) {
        EventQueue queue;
        const auto wanted = course(queue, seed);
        ASSERT_GT(wanted.size(), 100U);
        expect(one_switch(1), 1,
               [&](SimGridTime& time) { EXPECT_EQ(course(time, seed), wanted) << seed; });
    }
    expect(one_switch(1), 1, [](SimGridTime& time) {
        EXPECT_THROW(time.at(std::nan(""), [] {}), std::invalid_argument);
        time.cancel(0);
        time.cancel(12345);
        EXPECT_TRUE(time.empty());
    });
}

TEST_F(SimGridTimeTest, AtOneMomentTheOrderIsThatOfAsking) {
    expect(one_switch(10), 4, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.at(5, [&] { seen.push_back("before"); });
        time.flow(2, 3, 50, note(seen, time, "flow"));
        time.at(5, [&] { seen.push_back("between"); });
        time.flow(0, 1, 50, note(seen, time, "other"));
        time.compute(0, 5, note(seen, time, "work"));
        time.at(5, [&] { seen.push_back("after"); });
        finish(time);
        EXPECT_THAT(seen, ElementsAre("before", "flow 5", "between", "other 5", "work 5", "after"));
    });
}

TEST_F(SimGridTimeTest, UpToATimeMeansNotBeyondIt) {
    expect(one_switch(10, 1), 3, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.flow(0, 1, 100, note(seen, time, "first"));
        EXPECT_FALSE(time.next(0.5));
        EXPECT_EQ(time.now(), 0);
        EXPECT_FALSE(time.next(6));
        EXPECT_EQ(time.now(), 0);
        time.at(6, [&] { time.flow(0, 2, 10, note(seen, time, "second")); });
        EXPECT_TRUE(time.next(6));
        EXPECT_EQ(time.now(), 6);
        EXPECT_FALSE(time.next(8.9));
        EXPECT_TRUE(time.next(9));
        EXPECT_FALSE(time.next(11.9));
        EXPECT_TRUE(time.next(12));
        EXPECT_FALSE(time.next());
        EXPECT_THAT(seen, ElementsAre("second 9", "first 12"));
    });
}

TEST_F(SimGridTimeTest, MomentsAMicrosecondApartStayApart) {
    expect(one_switch(1e9), 4, [](SimGridTime& time) {
        std::vector<double> seen;
        const auto now = [&](End) { seen.push_back(time.now()); };
        time.flow(0, 1, 1e9 + 1000, now);
        time.flow(2, 3, 1e9, now);
        time.at(1 + 0.5e-6, [&] { now(End::done); });
        finish(time);
        ASSERT_EQ(seen.size(), 3U);
        EXPECT_NEAR(seen[0], 1, 1e-9);
        EXPECT_EQ(seen[1], 1 + 0.5e-6);
        EXPECT_NEAR(seen[2], 1 + 1e-6, 1e-9);
    });
}

TEST_F(SimGridTimeTest, TheSameSeedGivesTheSameTimesInAnyProcess) {
    const auto course = [](unsigned seed) {
        return in_own_process([seed] {
            SimGridTime time(std::make_shared<RankFlows>(
                Topology(racks({.racks = 4, .nodes = 4, .outside = 3e9, .uplink = 7e9})), 16));
            std::mt19937_64 random(seed);
            std::uniform_real_distribution<double> size(1e3, 1e9);
            std::vector<double> ends;
            std::function<void(int)> send = [&](int from) {
                if (ends.size() > 500) return;
                time.flow(from, static_cast<int>(random() % 16), size(random), [&, from](End end) {
                    ends.insert(ends.end(), {time.now(), double(from), double(end == End::done)});
                    send(static_cast<int>(random() % 16));
                });
            };
            for (int rank = 0; rank < 16; ++rank) send(rank);
            time.at(0.5, [&] { time.turn_off(3); });
            time.at(0.8, [&] { time.turn_on(3); });
            finish(time);
            return ends;
        });
    };
    const auto one = course(1), again = course(1), other = course(2);
    EXPECT_GT(one.size(), 500U);
    EXPECT_EQ(one, again);
    EXPECT_NE(one, other);
}

TEST_F(SimGridTimeTest, OneEnginePerProcessAndOneUserAtATime) {
    expect(one_switch(10), 2, [](SimGridTime&) {
        EXPECT_THROW(
            {
                try {
                    RankFlows second(Topology(one_switch(10)), 2);
                } catch (const UserError& error) {
                    EXPECT_THAT(error.what(), ::testing::HasSubstr("a process of its own"));
                    throw;
                }
            },
            UserError);
    });
    const auto failed = in_own_process([]() -> std::vector<double> {
        const auto flows = std::make_shared<RankFlows>(Topology(one_switch(10)), 2);
        std::vector<double> ends;
        for (int turn = 0; turn < 2; ++turn) {
            SimGridTime time(flows);
            EXPECT_EQ(time.now(), 0) << "each has a time of its own";
            time.flow(0, 1, 100, [&](End) { ends.push_back(time.now()); });
            finish(time);
        }
        EXPECT_EQ(ends, (std::vector<double>{10, 10}));
        {
            SimGridTime time(flows);
            time.flow(0, 1, 100, [](End) {});
            EXPECT_FALSE(time.next(5));
            EXPECT_THROW(SimGridTime{flows}, std::logic_error);
        }
        SimGridTime after(flows);
        after.flow(0, 1, 100, [&](End) { ends.push_back(after.now()); });
        finish(after);
        EXPECT_EQ(ends.back(), 10) << "what was under way ended with its time";
        EXPECT_THROW(RankFlows(Topology(racks({})), 5), UserError) << "there are four ranks";
        return {HasFailure() ? 1.0 : 0.0};
    });
    EXPECT_THAT(failed, ElementsAre(0));
}

TEST_F(SimGridTimeTest, LeavesTheSignalHandlersOfTheProgramAlone) {
    const auto kept = in_own_process([]() -> std::vector<double> {
        ::signal(SIGINT, SIG_IGN);
        struct sigaction before = {}, after = {};
        ::sigaction(SIGSEGV, nullptr, &before);
        const SimGridTime time(std::make_shared<RankFlows>(Topology(one_switch(1)), 1));
        ::sigaction(SIGSEGV, nullptr, &after);
        const bool same = before.sa_handler == after.sa_handler;
        ::sigaction(SIGINT, nullptr, &after);
        return {same ? 1.0 : 0.0, after.sa_handler == SIG_IGN ? 1.0 : 0.0};
    });
    EXPECT_THAT(kept, ElementsAre(1, 1));
}

}  // namespace
}  // namespace assay::drive
