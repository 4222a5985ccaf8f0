// Connections that are not of a port: without the token, without a word, or with the wrong ones.
#include <gmock/gmock.h>

#include <string_view>
#include <thread>

#include "suite/cluster/transfers/connection.hpp"
#include "suite/cluster/transfers/wire.hpp"
#include "tests/cluster/transfers/ports.hpp"

namespace assay::cluster {
namespace {

using ::testing::HasSubstr;

TEST_F(Transfers, NothingIsTakenFromWhoHasNotTheToken) {
    make(1000, {}, {}, Seconds(0.3));
    const auto right = order(0, 1000);
    auto wrong = right;
    wrong.token = draw_transfer_token();
    to->port->expect(right);
    from->port->send(wrong, to->port->port());
    EXPECT_EQ(from->endings.wait_for(right.id).done, 0u);
    EXPECT_FALSE(to->endings.wait_for(right.id).arrived);
    EXPECT_TRUE(equal(target->view(), Bytes::zeros(1000).view()));
}

void expect_closed(Connection& connection) {
    std::byte answer{};
    EXPECT_THROW(connection.receive({&answer, 1}), ConnectionClosed);
}

TEST_F(Transfers, WhatIsNoHeaderIsClosedAtOnce) {
    make(1000);  // with a minute for what is silent
    Connection stranger;
    stranger.connect(to->port->port(), Seconds(60));
    stranger.send(
        std::as_bytes(std::span(std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))));
    const auto begun = std::chrono::steady_clock::now();
    expect_closed(stranger);
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - begun).count(), 30);
}

TEST_F(Transfers, WhoSaysNothingIsClosedAndDisturbsNone) {
    make(1000, {}, {}, Seconds(1));
    const auto all = order(0, 1000);
    Connection silent, half;
    for (Connection* each : {&silent, &half}) each->connect(to->port->port(), Seconds(60));
    const auto header = encode_transfer_header({all.id, all.token});
    half.send(std::span(header).first(20));
    start(all, *from, *to);
    EXPECT_TRUE(to->endings.wait_for(all.id).arrived);
    expect_closed(silent);
    expect_closed(half);
    expect_endings(1, 0);
}

// A sender that knows the token, but not the rules: nothing is written outside of its range.
TEST_F(Transfers, ASenderCannotSendWhatWasNotOrdered) {
    make(1000);
    const auto breaks = [&](std::uint64_t before, const ChunkHeader& header,
                            std::span<const std::byte> content, const std::string& why) {
        const auto some = order(100, 200);
        to->port->expect(some);
        Connection sender;
        sender.connect(to->port->port(), Seconds(60));
        sender.send(encode_transfer_header({some.id, some.token}));
        if (before > 0) {
            const auto first = std::span(source).subspan(100, before);
            sender.send(encode_chunk_header({.bytes = static_cast<std::uint32_t>(before),
                                             .checksum = chunk_checksum(some, 0, first)}),
                        first);
        }
        sender.send(encode_chunk_header(header), content);
        const Ending ending = to->endings.wait_for(some.id);
        EXPECT_FALSE(ending.arrived);
        EXPECT_EQ(ending.done, before);
        EXPECT_THAT(ending.why, HasSubstr(why));
    };
    const std::span<const std::byte> content(source);
    breaks(0, {.bytes = 201}, content.first(201), "more was sent than was ordered");
    breaks(150, {.bytes = 51}, content.first(51), "more was sent than was ordered");
    breaks(150, {.bytes = 0}, {}, "what arrived is no chunk");
    breaks(150, {.bytes = ~0u}, {}, "what arrived is no chunk");
    breaks(150, {.kind = ChunkKind::end, .bytes = 0}, {}, "it ended before its last byte");
    breaks(150, {.kind = ChunkKind::end, .bytes = 3}, std::as_bytes(std::span("why", 3)), "why");
    breaks(150, {.bytes = 50, .checksum = 1}, content.first(50), "a wrong checksum");
    EXPECT_TRUE(equal(target->view().first(100), Bytes::zeros(100).view()));
    EXPECT_TRUE(equal(target->view().subspan(300), Bytes::zeros(700).view()));
    expect_endings(7, 0);
}

}  // namespace
}  // namespace assay::cluster
