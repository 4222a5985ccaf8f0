// What faults of links and limits of bandwidth do to transfers.
#include <gmock/gmock.h>

#include <thread>

#include "tests/cluster/transfers/ports.hpp"

namespace assay::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;

using LimitedTransfers = TransfersFromEither;
INSTANTIATE_TEST_SUITE_P(Source, LimitedTransfers, ::testing::Bool(), kind_of_source);

// ---- faults of links

// Of one chunk, so that a sender which has not yet heard that a transfer is broken has no other one
// that the next corruption could strike.
TEST_P(LimitedTransfers, OneFlippedBitBreaksIt) {
    make(100'000);
    for (int round = 0; round < 20; ++round) {
        from->links->corrupt_next_message();
        const Ending ending = transfer();
        EXPECT_FALSE(ending.arrived);
        EXPECT_EQ(ending.done, 0u);
        EXPECT_THAT(ending.why, HasSubstr("arrived with a wrong checksum"));
        EXPECT_TRUE(transfer().arrived) << "one call, one corruption";
        EXPECT_TRUE(equal(target->view(), source)) << "the source has not changed";
    }
    EXPECT_EQ(from->links->counts().corrupted, 20);
    expect_endings(40, 0);
}

TEST_P(LimitedTransfers, AFlippedBitInTheFirstOfManyChunksEndsTheConnection) {
    make(20'000'000);
    from->links->corrupt_next_message();
    const Ending ending = transfer();
    EXPECT_FALSE(ending.arrived);
    EXPECT_EQ(ending.done, 0u);
    expect_endings(1, 0);
}

TEST_F(Transfers, ACutThatHealsOnlyDelays) {
    make(300'000);
    for (const bool at_sender : {true, false}) {
        auto& links = at_sender ? from->links : to->links;
        const double took_s = transfer_s([&] {
            links->set(at_sender ? 9 : 7, {.cut = true}, Seconds(0.1));
            start(order(0, source.size()), *from, *to);
        });
        EXPECT_GE(took_s, 0.09);
        EXPECT_EQ(links->counts().cut, 1);
    }
    from->links->set(-1, {.cut = true}, std::nullopt);
    const auto all = order(0, source.size());
    start(all, *from, *to);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(to->endings.count(), 2u) << "nothing passes";
    from->links->set(-1, {}, std::nullopt);
    EXPECT_TRUE(to->endings.wait_for(all.id).arrived);
    EXPECT_TRUE(equal(target->view(), source));
    expect_endings(3, 0);
}

TEST_F(Transfers, ACutThatStaysBreaksIt) {
    make(300'000, {}, {}, Seconds(0.5));
    for (const bool at_sender : {true, false}) {
        auto& links = at_sender ? from->links : to->links;
        links->set(at_sender ? 9 : 7, {.cut = true}, std::nullopt);
        const Ending ending = transfer();
        EXPECT_FALSE(ending.arrived);
        EXPECT_EQ(ending.done, 0u);
        EXPECT_THAT(ending.why, HasSubstr("was cut for 0.5 s"));
        links->set(at_sender ? 9 : 7, {}, std::nullopt);
    }
    EXPECT_TRUE(transfer().arrived);
    expect_endings(3, 0);
}

TEST_P(LimitedTransfers, LostChunksAreSentAgainLater) {
    make(2'000'000);
    from->links->set(9, {.loss = 0.5, .resend_after = Seconds(0.01)}, std::nullopt);
    const double took_s = transfer_s([&] { start(order(0, source.size()), *from, *to); });
    const long lost = from->links->counts().lost;
    EXPECT_GT(lost, 0);
    EXPECT_GE(took_s, 0.9 * 0.01 * double(lost));
    EXPECT_TRUE(equal(target->view(), source));
}

// ---- limits, of which only the lower bound is sure on a busy machine

TEST_F(Transfers, LatencyComesBeforeTheFirstByte) {
    make(1000, {.latency = Seconds(0.05)});
    const auto all = [&] { start(order(0, 1000), *from, *to); };
    EXPECT_GE(transfer_s(all), 0.9 * 0.05);
    EXPECT_GE(transfer_s([&] { start(order(5, 0), *from, *to); }), 0.9 * 0.05) << "of nothing too";
    from->links->set(9, {.latency = Seconds(0.1)}, std::nullopt);
    EXPECT_GE(transfer_s(all), 0.9 * 0.15) << "its link's and its own";
    EXPECT_GE(from->links->counts().delayed, 1);
    from->links->set(9, {}, std::nullopt);
    to->links->set(7, {.latency = Seconds(0.2)}, std::nullopt);
    EXPECT_GE(transfer_s(all), 0.9 * 0.2) << "the receiver's end of the link";
}

TEST_P(LimitedTransfers, EveryLimitOfBandwidthHolds) {
    constexpr double rate = 4e6;
    constexpr std::size_t size = 400'000;
    const auto all = [&] { start(order(0, size), *from, *to); };
    make(size, {.send_bytes_s = rate});
    EXPECT_GE(transfer_s(all), 0.9 * size / rate);
    make(size, {}, {.receive_bytes_s = rate});
    EXPECT_GE(transfer_s(all), 0.9 * size / rate);
    make(size);
    from->links->set(9, {.bandwidth = rate}, std::nullopt);
    EXPECT_GE(transfer_s(all), 0.9 * size / rate);
    from->links->set(9, {}, std::nullopt);
    to->links->set(-1, {.bandwidth = rate}, std::nullopt);
    EXPECT_GE(transfer_s(all), 0.9 * size / rate);
    EXPECT_TRUE(equal(target->view(), source));
}

TEST(ManyTransfers, ShareTheirNics) {
    constexpr double rate = 4e6;
    constexpr std::size_t size = 200'000;
    for (const bool one_sender : {true, false}) {
        TestPort one(
            0, one_sender ? NicLimits{.send_bytes_s = rate} : NicLimits{.receive_bytes_s = rate});
        TestPort a(1), b(2), c(3);
        const auto begun = Clock::now();
        for (TestPort* other : {&a, &b, &c}) {
            TestPort &from = one_sender ? one : *other, &to = one_sender ? *other : one;
            const std::string object = "of " + std::to_string(other->self);
            from.port->offer(object, Bytes::zeros(size));
            to.port->accept(object, Bytes::zeros(size));
            start(order_of(std::uint64_t(other->self), from, to, object, 0, size), from, to);
        }
        for (TestPort* other : {&a, &b, &c}) {
            TestPort& to = one_sender ? *other : one;
            EXPECT_TRUE(to.endings.wait_for(std::uint64_t(other->self)).arrived);
        }
        EXPECT_GE(Seconds(Clock::now() - begun).count(), 0.9 * 3 * size / rate);
    }
}

}  // namespace
}  // namespace assay::cluster
