// Failures of real processes in Gloo groups: every survivor learns of them, and goes on without a
// restart; and nothing listens beyond this machine.
#include <fstream>
#include <set>

#include "suite/cluster/gloo/regroup_exercise.hpp"
#include "tests/cluster/processes/listening_sockets.hpp"
#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/scripted_worker.hpp"

namespace assay::cluster {
namespace {

using Fault = RegroupExercise::Fault;

// Far below this timeout: what is measured is the detection, not the timeout of an operation.
constexpr std::chrono::milliseconds kGlooTimeout{25000};

void expect_all_survivors_broke(const RegroupExercise& exercise,
                                const RegroupExercise::Timeline& timeline) {
    for (WorkerId survivor : exercise.members()) {
        EXPECT_TRUE(timeline.broken.count(survivor)) << "worker " << survivor << " noticed nothing";
    }
    EXPECT_LT(timeline.regrouped_s, 20);
}

TEST(GlooFailure, AKillBreaksEverySurvivorAndTheyRegroup) {
    RegroupExercise exercise({}, kGlooTimeout);
    exercise.form(4);
    const auto timeline = exercise.lose({exercise.members()[1]});
    EXPECT_EQ(exercise.members().size(), 3u);
    expect_all_survivors_broke(exercise, timeline);
}

TEST(GlooFailure, TwoKillsAtOnceAndANewcomer) {
    RegroupExercise exercise({}, kGlooTimeout);
    exercise.form(5);
    const auto members = exercise.members();
    expect_all_survivors_broke(exercise, exercise.lose({members[0], members[4]}));
    EXPECT_EQ(exercise.members().size(), 3u);
    exercise.form(4);
    EXPECT_EQ(exercise.members().back(), 5) << "a new worker, not one of the dead";
    EXPECT_EQ(exercise.supervisor().injected().kills, 2);
}

TEST(GlooFailure, AllButOneMayDie) {
    RegroupExercise exercise({}, kGlooTimeout);
    exercise.form(3);
    exercise.lose({exercise.members()[0]});
    exercise.lose({exercise.members()[1]});
    EXPECT_EQ(exercise.members(), std::vector<WorkerId>{1});
}

TEST(GlooFailure, AHangBreaksEverySurvivorWithinTheHeartbeatTimeout) {
    RegroupExercise exercise({.heartbeat_timeout = Seconds(0.3)}, kGlooTimeout);
    exercise.form(4);
    const auto timeline = exercise.lose({exercise.members()[2]}, Fault::hang);
    expect_all_survivors_broke(exercise, timeline);
    EXPECT_GE(timeline.detected_s, 0.3);
    EXPECT_EQ(exercise.supervisor().injected().hangs, 1);
}

TEST(GlooFailure, EverythingListensOnLoopbackOnly) {
    RegroupExercise exercise({}, kGlooTimeout);
    exercise.form(3);
    std::set<long> pids{::getpid()};
    for (long server : children_of(::getpid())) pids.insert(server);
    for (WorkerId worker : exercise.members()) pids.insert(exercise.supervisor().pid(worker));
    const auto sockets = listening_sockets(pids);
    EXPECT_GE(sockets.size(), 4u) << "the rendezvous and one per rank, or nothing was looked at";
    for (const auto& address : sockets) {
        EXPECT_TRUE(is_loopback(address)) << "listens on " << address;
    }
}

}  // namespace
}  // namespace assay::cluster
