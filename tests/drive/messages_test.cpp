// What is described once comes back as it was, and nothing else is accepted for it.
#include "suite/drive/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "suite/drive/any_message.hpp"
#include "tests/drive/random_message.hpp"

namespace assay::drive {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

enum class Colour { red, green };
ASSAY_NAMES(Colour, red, green)

struct Move {
    int layer = 0, from = 0, to = 0;
    bool operator==(const Move&) const = default;
};
ASSAY_ROW(Move, layer, from, to)

struct Size {
    double width = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Size&) const = default;
};
ASSAY_FIELDS(Size, width, bytes)

struct Begin {
    std::int64_t step = 0;
    std::optional<int> restore;
    std::vector<std::vector<int>> holders;
    std::vector<Move> moves;
    std::map<std::pair<int, int>, std::uint64_t> digests;
    Size size;
    Colour colour = Colour::red;
    std::optional<Size> limit;
    std::vector<std::optional<double>> readings;
    std::string why;
    bool again = false;
    std::int8_t small = 0;
    bool operator==(const Begin&) const = default;
};
ASSAY_MESSAGE(Begin, "begin", step, restore, holders, moves, digests, size, colour, limit, readings,
              why, again, small)

struct Wrapped {
    std::variant<Idle, Timer> what;
    bool operator==(const Wrapped&) const = default;
};
ASSAY_MESSAGE(Wrapped, "wrapped", what)

using Any = std::variant<Begin, Wrapped, Joined, Died, LeaveRequested, Timer, Idle, StartTimer,
                         Evict, Stop>;

static_assert(Message<Begin> && !Message<Size> && Row<Move> && !Row<Size> && Named<Colour>);
static_assert(!Described<int> && !Described<Any> && !Message<std::string>);

TEST(Messages, LookAsDescribed) {
    EXPECT_EQ(to_message(Joined{3, true}).dump(), R"({"more":true,"type":"joined","worker":3})");
    EXPECT_EQ(to_message(Any(Idle{})).dump(), R"({"type":"idle"})");
    EXPECT_EQ(to_message(Wrapped{Timer{7}}).dump(),
              R"({"type":"wrapped","what":{"id":7,"type":"timer"}})");
    Begin begin;
    begin.moves = {{1, 2, 3}};
    begin.digests = {{{1, 2}, 5}};
    const json message = to_message(begin);
    EXPECT_EQ(message["moves"].dump(), "[[1,2,3]]");
    EXPECT_EQ(message["digests"].dump(), "[[[1,2],5]]");
    EXPECT_EQ(message["colour"], "red");
    EXPECT_FALSE(message.contains("restore")) << "absent optional fields are left out";
}

TEST(Messages, AnyValueComesBackThroughText) {
    assay::testing::RandomMessages random(1);
    for (int i = 0; i < 20'000; ++i) {
        const Any value = random.make<Any>();
        const std::string text = to_message(value).dump();
        const Any back = message_to<Any>(json::parse(text));
        ASSERT_EQ(back, value) << text;
        ASSERT_EQ(to_message(back).dump(), text) << "0.0 is not -0.0";
    }
}

TEST(Messages, RealsThatJsonDoesNotHaveAreWords) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(to_message(StartTimer{1, infinity})["after_s"], "inf");
    EXPECT_EQ(to_message(StartTimer{1, -infinity})["after_s"], "-inf");
    EXPECT_EQ(to_message(StartTimer{1, std::nan("")})["after_s"], "nan");
    EXPECT_TRUE(std::isnan(from_json<double>("nan")));
    EXPECT_EQ(from_json<double>("-inf"), -infinity);
    EXPECT_EQ(from_json<double>(3), 3) << "an integer is a number";
    EXPECT_THROW(from_json<double>("3"), MessageError);
    EXPECT_THROW(from_json<double>(json()), MessageError);
}

std::string refused(const std::string& text) {
    try {
        message_to<Any>(json::parse(text));
    } catch (const MessageError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Messages, AnErrorSaysWhereAndWhatWasExpected) {
    EXPECT_EQ(refused(R"({"type":"died"})"), "died.worker: it is missing");
    EXPECT_EQ(refused(R"({"type":"died","worker":"two"})"),
              "died.worker: an integer was expected, not \"two\"");
    EXPECT_EQ(refused(R"({"type":"died","worker":2.0})"),
              "died.worker: an integer was expected, not 2.0");
    EXPECT_EQ(refused(R"({"type":"died","worker":2147483648})"),
              "died.worker: an integer of -2147483648 to 2147483647 was expected, not 2147483648");
    EXPECT_EQ(refused(R"({"type":"timer","id":-1})"),
              "timer.id: an integer of 0 to 18446744073709551615 was expected, not -1");
    EXPECT_EQ(refused(R"({"type":"joined","worker":1,"more":1})"),
              "joined.more: true or false was expected, not 1");
    EXPECT_EQ(refused(R"({"type":"evict","worker":1,"why":null})"),
              "evict.why: a text was expected, not null");
    EXPECT_EQ(refused(R"({"type":"wrapped","what":{"type":"died"}})"),
              "wrapped.what.type: one of idle, timer was expected, not \"died\"");
    EXPECT_THAT(refused(R"({"type":"dyed","worker":1})"),
                HasSubstr("type: one of begin, wrapped, joined, died,"));
    EXPECT_THAT(refused(R"({"worker":1})"), HasSubstr("it has no \"type\""));
    EXPECT_THAT(refused(R"({"type":5})"), HasSubstr("it has no \"type\""));
    EXPECT_THAT(refused("[1]"), HasSubstr("an object was expected, not [1]"));
    EXPECT_THAT(refused(R"({"type":")" + std::string(5000, 'x') + "\"}"), HasSubstr("xxx…"));
}

TEST(Messages, AnErrorSaysWhichElement) {
    json begin = to_message(Begin{});
    const auto with = [&](const char* field, const json& value) {
        json changed = begin;
        changed[field] = value;
        return refused(changed.dump());
    };
    EXPECT_EQ(with("moves", {{1, 2, 3}, {1, 2}}),
              "begin.moves[1]: a list of 3 was expected, not [1,2]");
    EXPECT_EQ(with("moves", {{1, 2, "x"}}),
              "begin.moves[0].to: an integer was expected, not \"x\"");
    EXPECT_EQ(with("holders", {{1}, {1, true}}),
              "begin.holders[1][1]: an integer was expected, not true");
    EXPECT_EQ(with("colour", "blue"), "begin.colour: one of red, green was expected, not \"blue\"");
    EXPECT_EQ(with("colour", 0), "begin.colour: one of red, green was expected, not 0");
    EXPECT_EQ(with("size", {{"width", 1}}), "begin.size.bytes: it is missing");
    EXPECT_EQ(with("limit", 3), "begin.limit: an object was expected, not 3");
    EXPECT_EQ(with("digests", json::parse("[[[1,2],3],[[1,2],4]]")),
              "begin.digests[1]: its key came before");
    EXPECT_EQ(with("small", 128), "begin.small: an integer of -128 to 127 was expected, not 128");
    EXPECT_EQ(with("step", 1e300), "begin.step: an integer was expected, not 1e+300");
}

TEST(Messages, WhatDriversAddOnTheWayIsNotLookedAt) {
    json message = to_message(Died{4});
    message["urgent"] = true;
    message["speed"] = {1, 2};
    EXPECT_EQ(message_to<Died>(message), Died{4});
    EXPECT_THROW(message_to<Timer>(message), MessageError);
}

TEST(Messages, AValueWithoutANameIsNotWritten) {
    EXPECT_THROW(to_json(static_cast<Colour>(7)), MessageError);
}

// Any text that is JSON is either refused or a message that is written as it was read.
TEST(Messages, DamagedTextIsRefusedAtWorst) {
    assay::testing::RandomMessages random(2);
    std::mt19937 edit(3);
    long refusals = 0, accepted = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text = to_message(random.make<Any>()).dump();
        for (auto edits = 1 + edit() % 3; edits > 0 && !text.empty(); --edits) {
            const auto at = edit() % text.size();
            if (edit() % 2)
                text[at] = "0123456789-{}[],:\"e"[edit() % 19];
            else
                text.erase(at, 1 + edit() % 4);
        }
        const json damaged = json::parse(text, nullptr, false);
        if (damaged.is_discarded()) continue;
        try {
            const Any read = message_to<Any>(damaged);
            const std::string again = to_message(read).dump();
            ASSERT_EQ(to_message(message_to<Any>(json::parse(again))).dump(), again);
            ++accepted;
        } catch (const MessageError&) {
            ++refusals;
        }
    }
    EXPECT_GT(refusals, 500);
    EXPECT_GT(accepted, 500);
}

TEST(AnyMessages, NoneIsReadAsNothing) {
    const AnyMessage none;
    EXPECT_TRUE(none.name().empty());
    EXPECT_FALSE(none.is<Begin>());
    EXPECT_FALSE(none.urgent());
    EXPECT_THROW(none.to<Begin>(), MessageError);
    EXPECT_THROW((none.to<std::variant<Begin, Wrapped>>()), MessageError);
    EXPECT_THROW(none.to_json(), MessageError);
}

}  // namespace
}  // namespace assay::drive
