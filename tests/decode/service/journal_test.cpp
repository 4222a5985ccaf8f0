// What is known of one engine beside its requests, and what no engine may say of these.
#include "impls/decode/service/journal.hpp"

#include <gtest/gtest.h>

#include "impls/decode/pool/choosers.hpp"

namespace assay::decode::service {
namespace {

constexpr Seat here = 3, elsewhere = 5;

class JournalTest : public testing::Test {
  protected:
    JournalTest() { pool.there(elsewhere, 1, 1); }

    void ready(int version = 1) {
        say(Ready{{.model = "m", .vocabulary = 50, .context = 40, .blocks = 8}, version});
        pool.there(here, 0, version);
    }
    /// The attempt at it.
    Number given(int max_tokens = 10, int model = 0) {
        return given({.request = {.prompt = {1}, .max_tokens = max_tokens}, .model = model});
    }
    Number given(const Ask& ask) {
        pool.ask(ask);
        FewestGiven chooser(pool);
        std::vector<Order> orders;
        pool.turn(chooser, orders);
        return std::get<Give>(orders.at(0)).attempt;
    }
    void say(const FromEngine& message) { journal.on(message, pool, here); }
    /// As whoever runs the engine does.
    void hear(const Made& made) {
        say(made);
        for (const MadeToken& token : made.tokens) {
            const Token one{token.id, 0, 0};
            pool.made(here, token.request, {&one, 1}, 0, nullptr);
        }
        for (const EndedRequest& ended : made.ended) pool.made(here, ended.request, {}, 0, &ended);
    }
    static Made made(Number attempt, std::vector<int> ids, int version = 1, bool ends = false) {
        Made made{.steps = 1, .seconds = 0.5, .waiting = 3, .tokens = {}, .ended = {}};
        for (const int id : ids) made.tokens.push_back({attempt, id, version, -0.25, 0});
        if (ends) made.ended.push_back({attempt, Finish::length, 0, 0, {}});
        return made;
    }

    Pool pool;
    Journal journal;
};

TEST_F(JournalTest, WeightsAreInUseFromTheirCommitOn) {
    EXPECT_EQ(journal.version(), 0);
    ready(3);
    EXPECT_EQ(journal.version(), 3);
    EXPECT_EQ(journal.limits()->context, 40);
    const Number a = given();
    EXPECT_THROW(say(Committed{4, 0}), ProtocolError);
    EXPECT_THROW(say(Committed{0, 0}), ProtocolError);  // nothing is loaded
    EXPECT_THROW(say(Loaded{3, 0}), ProtocolError);
    say(Loaded{4, 0.5});
    EXPECT_EQ(journal.prepared(), 4);
    EXPECT_THROW(say(made(a, {7}, 4)), ProtocolError);
    say(made(a, {7}, 3));
    say(Committed{4, 0.01});
    EXPECT_EQ(journal.version(), 4);
    EXPECT_EQ(journal.prepared(), 0);
    EXPECT_THROW(say(made(a, {8}, 3)), ProtocolError);
    say(made(a, {8}, 4));
    say(NotLoaded{5, "no such file"});
    EXPECT_EQ(journal.why_not_loaded(), "no such file");
    journal.begin_to_load();
    EXPECT_EQ(journal.why_not_loaded(), "");
}

TEST_F(JournalTest, KnowsWhetherItRests) {
    say(Paused{});  // before its weights are there
    EXPECT_TRUE(journal.paused());
    journal.go_on();
    EXPECT_FALSE(journal.paused());
    say(Status{.number = 7, .stats = {}});
    EXPECT_EQ(journal.status()->number, 7);
}

TEST_F(JournalTest, WhatARemovedAttemptStillSaysCountsForNothing) {
    ready();
    const Number a = given();
    pool.cancel(0);
    EXPECT_THROW(say(made(a, {7})), ProtocolError);  // nor was it told to remove it
    journal.remove(a);
    say(Taken{a});
    say(made(a, {7, 8}, 1, true));
    say(Exported{a, "state"});
    say(Refused{a, "why"});
    EXPECT_THROW(say(made(a, {9}, 2)), ProtocolError);  // what no request has
    say(Dropped{a});
    EXPECT_THROW(say(made(a, {9})), ProtocolError);
    EXPECT_THROW(say(Dropped{a}), ProtocolError);
}

TEST_F(JournalTest, FindsOutWhatNoEngineSays) {
    EXPECT_THROW(say(Made{}), ProtocolError);
    EXPECT_THROW(say(Taken{0}), ProtocolError);
    EXPECT_NO_THROW(say(Status{}));
    ready();
    EXPECT_THROW(say(Ready{}), ProtocolError);
    const Number a = given(2);
    for (const FromEngine& wrong : std::vector<FromEngine>{
             made(a + 1, {7}), made(a, {50}), made(a, {-1}), made(a, {1, 2, 3}), Taken{a + 1},
             Refused{a + 1, "why"}, made(a + 1, {}, 1, true), Exported{a, "not asked for"},
             Awaits{a + 1}, Dropped{a}, made(given(2, 1), {7})})
        EXPECT_THROW(say(wrong), ProtocolError) << drive::to_message(wrong).dump();
    Made twice = made(a, {}, 1, true);
    twice.ended.push_back(twice.ended[0]);
    EXPECT_THROW(say(twice), ProtocolError);
    hear(made(a, {7}));
    EXPECT_THROW(say(made(a, {8, 9})), ProtocolError);
    for (const Finish early : {Finish::length, Finish::stop, Finish::cancelled}) {
        Made end = made(a, {}, 1, true);
        end.ended[0].why = early;
        EXPECT_THROW(say(end), ProtocolError) << to_string(early);
    }
    hear(made(a, {8}, 1, true));
    EXPECT_THROW(say(made(a, {9})), ProtocolError);
    EXPECT_THROW(say(made(a, {}, 1, true)), ProtocolError);
}

TEST_F(JournalTest, KnowsWhatEndsAText) {
    ready();
    const Number a = given({.request = {.prompt = {1}, .stop_ids = {7}}, .model = 0});
    const Number b = given({.request = {.prompt = {1}, .stops = {"text"}}, .model = 0});
    Made end = made(a, {6}, 1, true);
    end.ended[0].why = Finish::stop;
    EXPECT_THROW(say(end), ProtocolError);
    end.tokens.push_back({a, 7, 1, -0.25, 0});
    EXPECT_NO_THROW(say(end));
    end = made(b, {6}, 1, true);
    end.ended[0].why = Finish::stop;
    EXPECT_NO_THROW(say(end));
    end = made(b, {}, 1, true);
    end.ended[0].why = Finish::context;
    EXPECT_THROW(say(end), ProtocolError);
    end.ended[0].why = Finish::failed;
    EXPECT_NO_THROW(say(end));
}

TEST_F(JournalTest, ForcedTokensSayHowManyThereAre) {
    ready();
    const Number a =
        given({.request = {.prompt = {1}, .max_tokens = 9, .forced_ids = {5, 6}}, .model = 0});
    EXPECT_NO_THROW(say(made(a, {5, 6})));
    EXPECT_THROW(say(made(a, {5, 6, 7})), ProtocolError);
}

TEST_F(JournalTest, StatesThatAreMovedAreExported) {
    ready();
    const Number a = given();
    say(Taken{a});
    pool.taken(here, a);
    pool.move(0, elsewhere, true);
    EXPECT_NO_THROW(say(Exported{a, "state"}));
    EXPECT_NO_THROW(say(Exported{a, "", 1000}));
    EXPECT_THROW(say(Exported{a, "", std::uint64_t{1} << 40}), ProtocolError);
    EXPECT_NO_THROW(say(Refused{a, "it is bound here"}));
    pool.refused(here, a);
    EXPECT_THROW(say(Exported{a, "state"}), ProtocolError);
}

}  // namespace
}  // namespace assay::decode::service
