// Transfers between ports of one process: what arrives, orders that cannot be followed, aborts.
// (Faults and limits: limits_test.cpp; processes that die: processes_test.cpp.)
#include <gmock/gmock.h>

#include <memory>
#include <thread>

#include "suite/cluster/transfers/connection.hpp"
#include "tests/cluster/transfers/ports.hpp"

namespace assay::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Source, TransfersFromEither, ::testing::Bool(), kind_of_source);

// ---- what arrives

TEST_P(TransfersFromEither, PartsInAnyOrderMakeTheWhole) {
    constexpr std::size_t size = 3'000'001;
    make(size);
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> cuts{0, 0, 1, size - 1, size, size};
    for (int i = 0; i < 14; ++i) cuts.push_back(random() % size);
    std::sort(cuts.begin(), cuts.end());
    std::vector<TransferOrder> orders;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
        orders.push_back(order(cuts[i], cuts[i + 1] - cuts[i]));
    std::shuffle(orders.begin(), orders.end(), random);
    for (const auto& one : orders) {
        if (random() % 2 == 0) {
            start(one, *from, *to);
        } else {  // the connection may be there before it is expected
            from->port->send(one, to->port->port());
            to->port->expect(one);
        }
    }
    for (const auto& one : orders) EXPECT_TRUE(to->endings.wait_for(one.id).arrived);
    EXPECT_TRUE(equal(target->view(), source));
    expect_endings(orders.size(), 0);
}

TEST(ManyTransfers, ThreePortsAtOnce) {
    constexpr std::size_t size = 400'000, parts = 5;
    std::vector<std::unique_ptr<TestPort>> ports;
    std::vector<std::vector<std::byte>> sources;
    std::map<std::pair<int, int>, Bytes> targets;
    for (int i = 0; i < 3; ++i) {
        ports.push_back(std::make_unique<TestPort>(i));
        sources.push_back(random_bytes(size, i));
    }
    const auto name = [](int from, int to) {
        return std::to_string(from) + " for " + std::to_string(to);
    };
    std::vector<TransferOrder> orders;
    for (int from = 0; from < 3; ++from) {
        for (int to = 0; to < 3; ++to) {
            if (from == to) continue;
            ports[from]->port->offer(name(from, to), Bytes::of(sources[from]));
            const auto [made, _] = targets.emplace(std::pair(from, to), Bytes::zeros(size));
            ports[to]->port->accept(name(from, to), made->second);
            for (std::size_t part = 0; part < parts; ++part)
                orders.push_back(order_of(orders.size(), *ports[from], *ports[to], name(from, to),
                                          part * size / parts, size / parts));
        }
    }
    for (const auto& order : orders) start(order, *ports[order.from], *ports[order.to]);
    for (const auto& order : orders)
        EXPECT_TRUE(ports[order.to]->endings.wait_for(order.id).arrived);
    for (const auto& [ends, target] : targets)
        EXPECT_TRUE(equal(target.view(), sources[ends.first])) << ends.first << ends.second;
    std::size_t endings = 0;
    for (auto& port : ports) {
        port->port.reset();
        endings += port->endings.count();
    }
    EXPECT_EQ(endings, orders.size());
}

TEST_P(TransfersFromEither, ATransferKeepsWhatWasOfferedWhenItBegan) {
    make(200'000, {.send_bytes_s = 2e6});
    const auto first = order(0, source.size());
    start(first, *from, *to);
    from->port->offer("w", Bytes::zeros(10));
    EXPECT_TRUE(to->endings.wait_for(first.id).arrived);
    EXPECT_TRUE(equal(target->view(), source));
    const auto second = order(0, 11);
    start(second, *from, *to);
    EXPECT_THAT(to->endings.wait_for(second.id).why, HasSubstr("of which worker 7 has 10"));
}

TEST_F(Transfers, WhatIsWithdrawnIsThereForThoseUnderWay) {
    make(300000, {.send_bytes_s = 2e6});
    const auto first = order(0, source.size());
    start(first, *from, *to);
    from->port->withdraw("w");
    to->port->withdraw("w");
    EXPECT_TRUE(to->endings.wait_for(first.id).arrived);
    EXPECT_TRUE(equal(target->view(), source));
    const auto second = order(0, 1);
    start(second, *from, *to);
    EXPECT_THAT(to->endings.wait_for(second.id).why, HasSubstr("has not accepted"));
}

// ---- orders that cannot be followed

TEST_F(Transfers, WhatIsNotThereBreaksTheTransferOnce) {
    make(1000);
    const auto breaks = [&](const TransferOrder& order, const std::string& why) {
        start(order, *from, *to);
        const Ending ending = to->endings.wait_for(order.id);
        EXPECT_FALSE(ending.arrived);
        EXPECT_EQ(ending.done, 0u);
        EXPECT_THAT(ending.why, HasSubstr(why));
    };
    from->port->offer("mine", Bytes::zeros(2000));
    to->port->accept("yours", Bytes::zeros(2000));
    from->port->offer("short here", Bytes::zeros(1));
    to->port->accept("short here", Bytes::zeros(2));
    const auto named = [&](const std::string& object, std::uint64_t offset, std::uint64_t bytes) {
        return order_of(++last_id, *from, *to, object, offset, bytes);
    };
    breaks(named("mine", 0, 1), "worker 9 has not accepted \"mine\"");
    breaks(named("yours", 0, 1), "worker 7 has not offered \"yours\"");
    breaks(named("nothing", 0, 0), "worker 9 has not accepted \"nothing\"");
    breaks(named("short here", 1, 1), "1 bytes from 1 on are not all in \"short here\"");
    breaks(order(1, 1000), "1000 bytes from 1 on are not all in \"w\", of which worker 9 has 1000");
    breaks(order(1001, 0), "0 bytes from 1001 on");
    breaks(order(~std::uint64_t{0}, 2), "2 bytes from 18446744073709551615 on");
    EXPECT_TRUE(transfer().arrived) << "others are not disturbed";
    expect_endings(8, 0);
}

TEST_F(Transfers, AReceiverThatIsNotThereIsReportedByTheSender) {
    make(1000);
    const auto nowhere = order(0, 1000);
    const std::uint16_t port = to->port->port();
    to->port.reset();
    from->port->send(nowhere, port);
    const Ending ending = from->endings.wait_for(nowhere.id);
    EXPECT_FALSE(ending.arrived);
    EXPECT_EQ(ending.done, 0u);
    EXPECT_THAT(ending.why, HasSubstr("worker 9 cannot be reached: Connection refused"));
    expect_endings(0, 1);
}

// A sender that comes too late learns that it has been reported, and is silent.
TEST_F(Transfers, ASenderThatDoesNotComeIsReportedByTheReceiver) {
    make(1000, {}, {}, Seconds(0.05));
    const auto late = order(0, 1000);
    to->port->expect(late);
    const Ending ending = to->endings.wait_for(late.id);
    EXPECT_EQ(ending.done, 0u);
    EXPECT_THAT(ending.why, HasSubstr("worker 7 did not begin to send within 0.05 s"));
    from->port->send(late, to->port->port());
    // One that is not expected is reported when its connection is closed; the late one had time
    // too.
    const auto next = order(0, 1000);
    from->port->send(next, to->port->port());
    EXPECT_THAT(from->endings.wait_for(next.id).why, HasSubstr("worker 9 did not take all of it"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    expect_endings(1, 1);
}

TEST_F(Transfers, MisuseThrows) {
    make(10);
    EXPECT_THROW(to->port->send(order(0, 10), 1), std::logic_error) << "the wrong end";
    EXPECT_THROW(from->port->expect(order(0, 10)), std::logic_error);
    auto self = order(0, 10);
    self.to = self.from;
    EXPECT_THROW(from->port->send(self, 1), std::logic_error);
    auto no_token = order(0, 10);
    no_token.token = "short";
    EXPECT_THROW(to->port->expect(no_token), std::logic_error);
    const auto once = order(0, 10);
    to->port->expect(once);
    EXPECT_THROW(to->port->expect(once), std::logic_error) << "again";
    EXPECT_THROW(from->port->offer("l", Bytes::length_only(3)), std::logic_error);
    EXPECT_THROW(to->port->accept("l", Bytes::length_only(3)), std::logic_error);
    EXPECT_THROW(to->port->accept("w", Bytes::of_file(source_file())), std::logic_error);
}

// ---- aborts and ends

TEST_P(TransfersFromEither, AnAbortBreaksItWhereverItIs) {
    make(1'000'000, {.send_bytes_s = 1e5});
    const auto aborted = [&](const TransferOrder& order, TestPort& at) {
        at.port->abort(order.id);
        const Ending ending = to->endings.wait_for(order.id);
        EXPECT_FALSE(ending.arrived);
        EXPECT_LT(ending.done, source.size());
        expect_written_up_to(ending.done);
        return ending;
    };
    const auto waiting = order(0, source.size());
    to->port->expect(waiting);
    EXPECT_EQ(aborted(waiting, *to).why, "it was aborted");
    const auto received = order(0, source.size());
    start(received, *from, *to);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(aborted(received, *to).why, "it was aborted");
    const auto sent = order(0, source.size());
    start(sent, *from, *to);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_THAT(aborted(sent, *from).why, HasSubstr("worker 7 did not send all of it"));
    to->port->abort(received.id);
    from->port->abort(1234);
    expect_endings(3, 0);
}

TEST_F(Transfers, APortThatGoesLeavesTheReportToTheOther) {
    make(1'000'000, {.send_bytes_s = 1e5});
    const auto all = order(0, source.size());
    start(all, *from, *to);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    from->port.reset();
    const Ending ending = to->endings.wait_for(all.id);
    EXPECT_FALSE(ending.arrived);
    expect_written_up_to(ending.done);
    expect_endings(1, 0);

    make(1'000'000, {.send_bytes_s = 1e5});
    const auto again = order(0, source.size());
    start(again, *from, *to);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    to->port.reset();
    EXPECT_EQ(from->endings.wait_for(again.id).done, 0u);
    expect_endings(0, 1);
}

// Ports that wait for links, for connections and for a header end at once.
TEST_F(Transfers, NothingHoldsUpTheEndOfAPort) {
    make(1000, {.latency = Seconds(1000)}, {}, Seconds(1000));
    from->links->set(9, {.cut = true}, std::nullopt);
    start(order(0, 1000), *from, *to);
    to->port->expect(order(0, 1000));
    Connection silent;
    silent.connect(to->port->port(), Seconds(10));
    from->port->send(order(0, 1000), to->port->port());
    const auto begun = Clock::now();
    from->port.reset();
    to->port.reset();
    EXPECT_LT(Seconds(Clock::now() - begun).count(), 500);
}

}  // namespace
}  // namespace assay::cluster
