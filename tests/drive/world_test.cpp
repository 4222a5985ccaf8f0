// Workers without processes: what they are sent arrives in order, what they do stops while they are
// frozen, and ends with them.
#include "suite/drive/simulated/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "suite/drive/simulated/event_queue.hpp"

namespace assay::drive {
namespace {

using testing::ElementsAre;

class Scripted final : public Latencies {
  public:
    double message(WorkerId) override {
        if (next_ < messages.size()) return messages[next_++];
        return 1;
    }
    double detection(WorkerId) override { return 10; }
    std::vector<double> messages;  ///< one after the other, then 1 each

  private:
    std::size_t next_ = 0;
};

class World : public testing::Test {
  protected:
    SimulatedWorld::Callback seen(const std::string& what) {
        return [this, what] {
            log.push_back(what);
            at.push_back(time.now());
        };
    }
    void run() {
        while (time.next()) {
        }
    }
    void at_time(double t_s, SimulatedWorld::Callback what) { time.at(t_s, std::move(what)); }

    EventQueue time;
    Scripted latencies;
    SimulatedWorld world{time, latencies};
    std::vector<std::string> log;
    std::vector<double> at;
};

TEST_F(World, MessagesOfOneWorkerKeepTheirOrderBothWays) {
    const WorkerId one = world.add(), other = world.add();
    latencies.messages = {5, 1, 2, 7, 3};
    world.to_worker(one, seen("first"));
    world.to_worker(one, seen("second"));  // would be there at 1
    world.to_worker(other, seen("other"));
    world.to_policy(one, seen("back"));
    world.to_policy(one, seen("back again"));  // would be there at 3
    run();
    EXPECT_THAT(log, ElementsAre("other", "first", "second", "back", "back again"));
    EXPECT_THAT(at, ElementsAre(2, 5, 5, 7, 7));
}

TEST_F(World, ADeadWorkerDoesNothingAndWhatItGetsIsLostButItsWordsArrive) {
    const WorkerId one = world.add();
    latencies.messages = {5, 5};
    world.to_policy(one, seen("last words"));
    world.to_worker(one, seen("too late"));
    world.after(one, 5, seen("work"));
    at_time(3, [this, one] { world.kill(one, seen("detected")); });
    at_time(4, [this, one] {
        EXPECT_FALSE(world.alive(one));
        world.kill(one, seen("detected twice"));
    });
    run();
    EXPECT_THAT(log, ElementsAre("last words", "detected"));
    EXPECT_THAT(at, ElementsAre(5, 13));
}

TEST_F(World, WhatASilencedWorkerHadSentIsLostUnlessItHadArrived) {
    const WorkerId one = world.add();
    latencies.messages = {1, 5};
    world.to_policy(one, seen("arrived"));
    world.to_policy(one, seen("under way"));
    at_time(3, [this, one] { world.kill(one, seen("detected"), /*silenced=*/true); });
    run();
    EXPECT_THAT(log, ElementsAre("arrived", "detected"));
}

TEST_F(World, AFrozenWorkerGetsItsMailWhenItWakes) {
    const WorkerId one = world.add();
    latencies.messages = {1, 2};
    world.freeze(one, 10, seen("woken"));
    world.to_worker(one, seen("first"));
    world.to_worker(one, seen("second"));
    at_time(9, [this, one] { EXPECT_FALSE(world.awake(one)); });
    run();
    EXPECT_TRUE(world.awake(one));
    EXPECT_THAT(log, ElementsAre("first", "second", "woken"));
    EXPECT_THAT(at, ElementsAre(10, 10, 10));
}

TEST_F(World, TimeInWhichItIsFrozenIsNoWork) {
    const WorkerId one = world.add();
    world.after(one, 10, seen("begun before"));
    at_time(4, [this, one] { world.freeze(one, 7); });
    at_time(5, [this, one] { world.after(one, 2, seen("begun meanwhile")); });
    at_time(8, [this, one] { world.after(one, 1, seen("begun after")); });
    at_time(11, [this, one] { world.freeze(one, 20); });
    run();
    EXPECT_THAT(log, ElementsAre("begun meanwhile", "begun after", "begun before"));
    EXPECT_THAT(at, ElementsAre(9, 9, 10 + 3 + 9));
}

TEST_F(World, AFreezeWithinAnotherDoesNotEndIt) {
    const WorkerId one = world.add();
    world.after(one, 1, seen("work"));
    world.freeze(one, 10, seen("first freeze over"));
    at_time(2, [this, one] { world.freeze(one, 4, seen("shorter")); });
    at_time(3, [this, one] { world.freeze(one, 12, seen("longer")); });
    run();
    EXPECT_THAT(log, ElementsAre("longer", "work"));
    EXPECT_THAT(at, ElementsAre(12, 13));
}

TEST_F(World, WhoIsFrozenForGoodDoesNothingMoreAndCanBeKilled) {
    const WorkerId one = world.add();
    world.after(one, 1, seen("work"));
    world.freeze(one, SimulatedWorld::forever, seen("woken"));
    world.after(one, 1, seen("more work"));
    world.to_worker(one, seen("mail"));
    at_time(50, [this, one] {
        world.freeze(one, 60, seen("woken"));
        EXPECT_TRUE(world.alive(one));
        world.kill(one, seen("detected"));
    });
    run();
    EXPECT_THAT(log, ElementsAre("detected"));
}

TEST_F(World, KilledWhileItReadsWhatCameItReadsNoFurther) {
    const WorkerId one = world.add();
    latencies.messages = {1, 1};
    world.freeze(one, 10, seen("woken"));
    world.to_worker(one, [this, one] { world.kill(one, seen("detected")); });
    world.to_worker(one, seen("mail"));
    run();
    EXPECT_THAT(log, ElementsAre("detected"));
}

TEST_F(World, FrozenAgainWhileItReadsItReadsTheRestLater) {
    const WorkerId one = world.add();
    latencies.messages = {1, 1};
    world.freeze(one, 10, seen("woken too early"));
    world.to_worker(one, [this, one] { world.freeze(one, 20, seen("woken")); });
    world.to_worker(one, seen("mail"));
    run();
    EXPECT_THAT(log, ElementsAre("mail", "woken"));
    EXPECT_THAT(at, ElementsAre(20, 20));
}

// Whatever is drawn: who lives gets everything, in the order sent, and so does the policy from it.
TEST(WorldTraffic, KeepsTheOrderOfEachWorkerWhateverIsDrawn) {
    constexpr WorkerId mortal = 3;
    std::size_t dead_letters = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EventQueue time;
        std::mt19937_64 random(seed);
        Scripted latencies;
        for (int i = 0; i < 600; ++i)
            latencies.messages.push_back(static_cast<double>(random() % 100) / 10);
        SimulatedWorld world(time, latencies);
        for (int i = 0; i < 4; ++i) world.add();
        using Numbers = std::map<WorkerId, std::vector<int>>;
        Numbers sent_to, sent_from, got, heard;
        for (int i = 0; i < 500; ++i) {
            const auto who = static_cast<WorkerId>(random() % 4);
            time.at(static_cast<double>(random() % 200), [&, who, i] {
                if (i % 31 == 0) world.freeze(who, time.now() + 5);
                if (i == 300) world.kill(mortal, [] {});
                (i % 2 ? sent_to : sent_from)[who].push_back(i);
                if (i % 2)
                    world.to_worker(who, [&, who, i] { got[who].push_back(i); });
                else
                    world.to_policy(who, [&, who, i] { heard[who].push_back(i); });
            });
        }
        while (time.next()) {
        }
        dead_letters += sent_to[mortal].size() - got[mortal].size();
        sent_to[mortal].resize(got[mortal].size());  // what it got came first
        EXPECT_EQ(got, sent_to) << seed;
        EXPECT_EQ(heard, sent_from) << seed;
    }
    EXPECT_GT(dead_letters, 100U);
}

}  // namespace
}  // namespace assay::drive
