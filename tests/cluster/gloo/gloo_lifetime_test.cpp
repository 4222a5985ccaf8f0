// Many Gloo groups in one process, and what is left of those that failed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "suite/cluster/gloo/gloo.hpp"
#include "tests/cluster/collectives/run_ranks.hpp"
#include "tests/cluster/processes/listening_sockets.hpp"
#include "tests/cluster/processes/process_check.hpp"

namespace assay::cluster {
namespace {

using std::chrono::milliseconds;

long entries(const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
}
long threads() { return entries("/proc/self/task"); }
long descriptors() { return entries("/proc/self/fd"); }

// The first collective of a group makes libtorch note the group in a map that the whole process
// shares. Here all ranks do so within the same microsecond.
TEST(GlooThreads, FirstCollectivesOfFreshGroupsMayStartAtOnce) {
    constexpr int ranks = 4, rounds = 50;
    RendezvousServer server;
    std::atomic<int> arrived{0};
    run_ranks(ranks, [&](int rank) {
        struct Release {  // the others must not wait for one that failed
            ~Release() { arrived = 1 << 30; }
            std::atomic<int>& arrived;
        } release{arrived};
        GlooContext context({.port = server.port(), .timeout = milliseconds(60000)});
        for (int round = 1; round <= rounds; ++round) {
            auto group = context.make_group("round-" + std::to_string(round), rank, ranks);
            ++arrived;
            while (arrived < ranks * round) std::this_thread::yield();
            std::int64_t sum = rank;
            group->all_reduce_sum(&sum, 1, Dtype::i64);
            EXPECT_EQ(sum, 0 + 1 + 2 + 3);
        }
    });
}

/// Nobody else comes, so an abort ends it.
void make_group_in_vain(GlooContext& context, const std::string& key) {
    std::thread aborter([&] {
        std::this_thread::sleep_for(milliseconds(50));
        context.abort(key, "enough");
    });
    EXPECT_THROW(context.make_group(key, 0, 2), CommunicatorBroken);
    aborter.join();
}

TEST(GlooThreads, AnAbortedMakeGroupLeavesNoThreadBehind) {
    RendezvousServer server;
    const long before = threads();
    for (int i = 0; i < 3; ++i) {
        GlooContext context({.port = server.port(), .timeout = milliseconds(600000)});
        make_group_in_vain(context, "lonely-" + std::to_string(i));
    }
    // One may stay for all groups of the process: it closes them.
    EXPECT_TRUE(comes_true([&] { return threads() <= before + 1; }))
        << threads() - before << " threads are left";
}

// Members that were on their way to the failed group may still connect. They must not meet the
// sockets of later groups.
TEST(GlooThreads, AFailedGroupsSocketServesNoLaterGroup) {
    RendezvousServer server;
    // Those of other tests may still be on their way out: only what is new counts.
    std::set<std::string> known;
    const auto new_sockets = [&] {
        long fresh = 0;
        for (const auto& socket : listening_sockets({::getpid()}))
            fresh += known.insert(socket).second;
        return fresh;
    };
    new_sockets();
    GlooContext context({.port = server.port(), .timeout = milliseconds(600000)});
    GlooContext other({.port = server.port(), .timeout = milliseconds(600000)});
    const auto pair = [&](const std::string& key) {
        std::unique_ptr<Communicator> groups[2];
        std::thread second([&] { groups[1] = other.make_group(key, 1, 2); });
        groups[0] = context.make_group(key, 0, 2);
        second.join();
        return std::pair(std::move(groups[0]), std::move(groups[1]));
    };
    const auto first = pair("first");
    EXPECT_EQ(new_sockets(), 2) << "one per context";
    const auto second = pair("second");
    EXPECT_EQ(new_sockets(), 0) << "a context's groups share one";
    make_group_in_vain(context, "failed");
    const auto third = pair("third");
    EXPECT_EQ(new_sockets(), 1);
}

// The store inside takes the socket over, and closes it once when it cannot start.
TEST(Rendezvous, OneThatFailsLeavesNoDescriptorOpen) {
    RendezvousServer warm_up;  // what libraries open once stays open
    // Groups of other tests may still be closed.
    ASSERT_TRUE(comes_true([] {
        const long seen = descriptors();
        std::this_thread::sleep_for(milliseconds(200));
        return descriptors() == seen;
    }));
    const long before = descriptors();
    const int lowest = ::fcntl(0, F_DUPFD, 0);
    ::close(lowest);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    // A socket needs one, the store's own pipe two more.
    for (int spare = 0; spare < 3; ++spare) {
        rlimit fewer = limit;
        fewer.rlim_cur = static_cast<rlim_t>(lowest + spare);
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);
        EXPECT_THROW(RendezvousServer(), std::exception) << spare;
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
        EXPECT_EQ(descriptors(), before) << "with " << spare << " descriptors to spare";
    }
    RendezvousServer with_enough;
    EXPECT_GT(descriptors(), before);
}

}  // namespace
}  // namespace assay::cluster
