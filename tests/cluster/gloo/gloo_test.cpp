// The Gloo back end against the common conformance suite, and what only it promises.
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "suite/cluster/processes/launcher.hpp"
#include "tests/cluster/collectives/communicator_conformance.hpp"
#include "tests/cluster/gloo/gloo_factory.hpp"

namespace assay::cluster {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Gloo, CommunicatorConformance, GlooFactory);

TEST(GlooContext, AGroupWhoseMemberNeverComesFailsInTime) {
    RendezvousServer server;
    GlooContext context({.port = server.port(), .timeout = milliseconds(300)});
    EXPECT_THROW(context.make_group("lonely", 0, 2), CommunicatorBroken);
}

TEST(GlooContext, AbortWakesMakeGroupAndTheContextLivesOn) {
    RendezvousServer server;
    const auto start = std::chrono::steady_clock::now();
    run_ranks(2, [&](int rank) {
        GlooContext context({.port = server.port(), .timeout = milliseconds(60000)});
        std::thread aborter([&] {
            std::this_thread::sleep_for(milliseconds(50));
            context.abort("epoch-1", "rank 2 died");
        });
        EXPECT_THROW(context.make_group("epoch-1", rank, 3), CommunicatorBroken);
        aborter.join();
        EXPECT_THROW(context.make_group("epoch-1", rank, 2), CommunicatorBroken) << "stays aborted";
        auto group = context.make_group("epoch-2", rank, 2);
        std::int64_t sum = rank + 1;
        group->all_reduce_sum(&sum, 1, Dtype::i64);
        EXPECT_EQ(sum, 3);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(GlooContext, AnAbortedOperationWritesIntoNobodysMemory) {
    RendezvousServer server;
    std::atomic<bool> rank_0_is_out{false};
    run_ranks(2, [&](int rank) {
        GlooContext context({.port = server.port(), .timeout = milliseconds(5000)});
        auto group = context.make_group("g", rank, 2);
        std::vector<std::int64_t> data(100000, rank == 0 ? -1 : 5);
        if (rank == 0) {
            std::thread aborter([&] {
                std::this_thread::sleep_for(milliseconds(50));
                context.abort("g", "enough");
            });
            EXPECT_THROW(group->broadcast(data.data(), data.size(), Dtype::i64, 1),
                         CommunicatorBroken);
            aborter.join();
            rank_0_is_out = true;
            std::this_thread::sleep_for(milliseconds(200));
            EXPECT_EQ(data, std::vector<std::int64_t>(100000, -1));
        } else {
            while (!rank_0_is_out) std::this_thread::sleep_for(milliseconds(1));
            // The abandoned operation of rank 0 may still take this, or the group may be gone.
            try {
                group->broadcast(data.data(), data.size(), Dtype::i64, 1);
            } catch (const CommunicatorBroken&) {
            }
        }
    });
}

TEST(GlooContext, ABreakSpreadsWithoutAnybodysAbort) {
    RendezvousServer server;
    std::atomic<int> broken{0};
    run_ranks(4, [&](int rank) {
        GlooContext context({.port = server.port(), .timeout = milliseconds(60000)});
        auto group = context.make_group("g", rank, 4);
        group->barrier();
        if (rank == 3) return;  // leaves: its connections close
        std::vector<float> data(1000, 1.0f);
        EXPECT_THROW(
            {
                for (int i = 0; i < 3; ++i) {
                    group->all_reduce_sum(data.data(), data.size(), Dtype::f32);
                }
            },
            CommunicatorBroken);
        ++broken;
    });
    EXPECT_EQ(broken, 3);
}

TEST(GlooContext, AGroupOfOneNeedsNobody) {
    GlooContext context({.port = 1});  // no rendezvous there
    auto alone = context.make_group("alone", 0, 1);
    std::int64_t value = 5, copy = 0;
    const std::vector<std::int64_t> one{1};
    alone->all_to_all_v(&value, one, &copy, one, Dtype::i64);
    alone->all_reduce_sum(&value, 1, Dtype::i64);
    alone->barrier();
    EXPECT_EQ(copy, 5);
    EXPECT_EQ(value, 5);
    context.abort("alone", "why not");
    EXPECT_THROW(alone->barrier(), CommunicatorBroken);
}

TEST(GlooContext, NoRendezvousIsSaid) {
    GlooContext context({.port = 1, .timeout = milliseconds(500)});
    EXPECT_THROW(context.make_group("g", 0, 2), CommunicatorBroken);
}

}  // namespace
}  // namespace assay::cluster

int main(int argc, char** argv) {
    assay::cluster::switch_off_flight_recorder();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
