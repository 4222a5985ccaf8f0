// Frames: what goes in comes out, whatever the pieces; what is no frame is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "suite/cluster/processes/frame.hpp"
#include "suite/cluster/processes/heartbeat_monitor.hpp"

namespace assay::cluster {
namespace {

using nlohmann::json;

TEST(Frame, RoundTripInPiecesOfAnySize) {
    std::mt19937 random(5);
    std::vector<json> bodies{
        nullptr, 1.5, "", json::array(), {{"a", {1, 2, 3}}, {"text", "\u00e9\n"}}};
    bodies.push_back({{"long", std::string(300'000, 'x')}});
    std::string stream;
    for (const auto& body : bodies) {
        stream += encode_message(body);
        stream += encode_frame(FrameKind::heartbeat, "");
    }
    for (std::size_t largest : {1, 3, 8, 9, 1000, 1'000'000}) {
        FrameReader reader;
        std::vector<json> got;
        std::size_t heartbeats = 0;
        for (std::size_t at = 0; at < stream.size();) {
            const std::size_t n = std::min<std::size_t>(1 + random() % largest, stream.size() - at);
            reader.feed(stream.data() + at, n);
            at += n;
            while (auto frame = reader.next()) {
                if (frame->kind == FrameKind::heartbeat) {
                    ++heartbeats;
                } else {
                    got.push_back(decode_message(*frame));
                }
            }
        }
        EXPECT_EQ(got, bodies);
        EXPECT_EQ(heartbeats, bodies.size());
        EXPECT_EQ(reader.pending_bytes(), 0u);
    }
}

TEST(Frame, DoublesKeepEveryBit) {
    const json body{{"x", 0.1 + 0.2}, {"tiny", 5e-324}, {"nan", std::nan("")}};
    FrameReader reader;
    const std::string frame = encode_message(body);
    reader.feed(frame.data(), frame.size());
    const json got = decode_message(*reader.next());
    EXPECT_EQ(got.at("x").get<double>(), 0.1 + 0.2);
    EXPECT_EQ(got.at("tiny").get<double>(), 5e-324);
    EXPECT_TRUE(got.at("nan").is_null());
}

TEST(Frame, OnlyAnObjectThatSaysUrgentTrueIsUrgent) {
    auto kind_of = [](const json& body) {
        return static_cast<FrameKind>(encode_message(body).at(2));
    };
    EXPECT_EQ(kind_of({{"urgent", true}}), FrameKind::urgent);
    EXPECT_EQ(kind_of({{"urgent", false}}), FrameKind::message);
    EXPECT_EQ(kind_of({{"urgent", 1}}), FrameKind::message);
    EXPECT_EQ(kind_of(json::array({"urgent", true})), FrameKind::message);
}

TEST(Frame, ATornFrameWaitsAndIsCounted) {
    FrameReader reader;
    const std::string frame = encode_message({{"a", 1}});
    reader.feed(frame.data(), frame.size() - 1);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.pending_bytes(), frame.size() - 1);
    reader.feed(frame.data() + frame.size() - 1, 1);
    EXPECT_TRUE(reader.next());
}

TEST(Frame, WhatIsNoFrameIsRefused) {
    auto read = [](std::string bytes) {
        FrameReader reader;
        reader.feed(bytes.data(), bytes.size());
        return reader.next();
    };
    const std::string good = encode_message(1);
    ASSERT_TRUE(read(good));
    for (std::size_t byte : {0, 1, 2, 3, 7}) {  // magic, kind, zero, top of the length
        std::string bad = good;
        bad[byte] = char(0x7f);
        EXPECT_THROW(read(bad), FrameError) << "byte " << byte;
    }
    std::string heartbeat = encode_frame(FrameKind::heartbeat, "");
    heartbeat[4] = 1;
    EXPECT_THROW(read(heartbeat), FrameError) << "a heartbeat has no payload";
    EXPECT_THROW(read(std::string("HTTP/1.1 200 OK")), FrameError);
    EXPECT_THROW(decode_message({FrameKind::message, "{\"a\":"}), FrameError);
    EXPECT_THROW(encode_frame(FrameKind::message, std::string(kMaxFramePayloadBytes + 1, 'x')),
                 FrameError);
}

TEST(Frame, DeepNestingDoesNotOverflowTheStack) {
    Frame frame{FrameKind::message, std::string(1'000'000, '[')};
    EXPECT_THROW(decode_message(frame), FrameError);
}

using Seconds = HeartbeatMonitor::Seconds;

TEST(HeartbeatMonitor, SilenceBeyondTheTimeoutIsNoticed) {
    HeartbeatMonitor monitor(Seconds(0.1), Seconds(1), Seconds(5));
    monitor.watch(7);
    monitor.heard(7);
    for (int i = 0; i < 10; ++i) monitor.tick(Seconds(0.0999));
    EXPECT_TRUE(monitor.silent().empty());
    monitor.tick(Seconds(0.1));
    ASSERT_EQ(monitor.silent().size(), 1u);
    EXPECT_EQ(monitor.silent()[0].worker, 7);
    EXPECT_FALSE(monitor.silent()[0].never_heard);
    monitor.heard(7);
    EXPECT_TRUE(monitor.silent().empty());
}

TEST(HeartbeatMonitor, ALateWatcherBlamesNobody) {
    HeartbeatMonitor monitor(Seconds(0.1), Seconds(1), Seconds(5));
    monitor.watch(1);
    monitor.heard(1);
    for (int i = 0; i < 4; ++i) monitor.tick(Seconds(1000));
    EXPECT_TRUE(monitor.silent().empty());
    monitor.tick(Seconds(1000));
    monitor.tick(Seconds(1000));
    EXPECT_EQ(monitor.silent().size(), 1u) << "it does notice in the end";
}

TEST(HeartbeatMonitor, TheFirstSignOfLifeMayTakeLonger) {
    HeartbeatMonitor monitor(Seconds(0.5), Seconds(1), Seconds(5));
    monitor.watch(1);
    for (int i = 0; i < 10; ++i) monitor.tick(Seconds(0.5));
    EXPECT_TRUE(monitor.silent().empty());
    monitor.tick(Seconds(0.5));
    ASSERT_EQ(monitor.silent().size(), 1u);
    EXPECT_TRUE(monitor.silent()[0].never_heard);
    monitor.forget(1);
    EXPECT_TRUE(monitor.silent().empty());
}

}  // namespace
}  // namespace assay::cluster
