#include "impls/decode/pool/pool.hpp"

#include <gtest/gtest.h>

#include "impls/decode/pool/choosers.hpp"
#include "order_texts.hpp"

namespace assay::decode {
namespace {

constexpr EndedRequest at_length{.why = Finish::length};

Ask request(int priority = 0) { return {.request = {.prompt = {1, 2}, .priority = priority}}; }
Ask request(Loss loss) {
    Ask ask = request();
    ask.loss = loss;
    return ask;
}
Ask keeping() {
    Ask ask = request();
    ask.request.links.emplace().keep = true;
    return ask;
}

class PoolTest : public testing::Test {
  protected:
    /// Turns to the lowest seat with the fewest requests.
    Lines turn() {
        FewestGiven chooser(pool);
        std::vector<Order> orders;
        pool.turn(chooser, orders);
        return lines(orders);
    }
    /// One that was given and taken; its attempt.
    Number given(Ask ask, Number attempt = 0) {
        const Number number = pool.ask(std::move(ask));
        turn();
        pool.taken(*pool.seat(number), attempt);
        EXPECT_EQ(pool.living(*pool.seat(number), attempt), number);
        return number;
    }
    bool make(Seat seat, Number attempt, std::vector<int> ids, const EndedRequest* ended = nullptr,
              int waiting = 0) {
        std::vector<Token> tokens;
        for (const int id : ids) tokens.push_back({id, -0.5f, -0.25f});
        return pool.made(seat, attempt, tokens, waiting, ended);
    }
    std::vector<int> ids(Number number) const {
        std::vector<int> ids;
        for (const Token& token : pool.tokens(number)) ids.push_back(token.id);
        return ids;
    }

    Pool pool;
};

// ---- turns --------------------------------------------------------------------------------------

TEST_F(PoolTest, TurnsAreByPriorityThenByNumber) {
    for (const int priority : {0, 2, 1, 2, std::numeric_limits<int>::min()})
        pool.ask(request(priority));
    EXPECT_EQ(turn(), Lines{});  // there is no seat
    pool.there(7, 0, 1);
    EXPECT_EQ(turn(), (Lines{"give 1 to 7 as 0", "give 3 to 7 as 1", "give 2 to 7 as 2",
                             "give 0 to 7 as 3", "give 4 to 7 as 4"}));
    EXPECT_EQ(turn(), Lines{});
}

TEST_F(PoolTest, WhatIsLostComesAgainInTheSameOrder) {
    pool.there(0, 0, 1);
    pool.there(1, 0, 1);
    for (int i = 0; i < 20; ++i) pool.ask(request());
    turn();
    pool.lost(1);
    pool.lost(0);
    pool.there(2, 0, 1);
    Lines expected;
    for (int i = 0; i < 20; ++i) expected.push_back(fmt::format("give {} to 2 as {}", i, 20 + i));
    EXPECT_EQ(turn(), expected);
}

TEST_F(PoolTest, ASeatTakesSoManyAndNoneWhileItIsClosed) {
    pool.there(0, 0, 1, 2);
    for (int i = 0; i < 4; ++i) pool.ask(request());
    EXPECT_EQ(turn().size(), 2U);
    EXPECT_FALSE(pool.places()[0].takes);
    pool.open(0, false);
    make(0, 0, {5}, &at_length);
    EXPECT_EQ(turn(), Lines{"0 is ended"});
    EXPECT_EQ(pool.with(0), std::vector<Number>{1});  // what it has stays
    pool.open(0, true);
    EXPECT_EQ(turn(), Lines{"give 2 to 0 as 2"});
    EXPECT_EQ(pool.pending(), 1U);
    EXPECT_EQ(pool.open(), 3U);
}

TEST_F(PoolTest, AWorkerMayHaveSeatsOfSeveralModels) {
    pool.there(10, 0, 1);
    pool.there(11, 1, 1);
    Ask small = request();
    small.model = 1;
    pool.ask(small);
    pool.ask(request());
    EXPECT_EQ(turn(), (Lines{"give 0 to 11 as 0", "give 1 to 10 as 1"}));
    EXPECT_FALSE(make(10, 0, {5}));  // an attempt of the other seat
    EXPECT_EQ(pool.places()[0].given, 1);
    pool.lost(10);
    EXPECT_EQ(pool.with(11), std::vector<Number>{0});
    EXPECT_EQ(turn(), Lines{});  // the other model's seat is nothing to it
}

TEST_F(PoolTest, AChooserOfASeatThatDoesNotTakeIsMisuse) {
    struct Wrong final : Chooser {
        Seat seat = 0;
        std::optional<Seat> choose(Number, std::span<const Place>) override { return seat; }
    } wrong;
    std::vector<Order> orders;
    pool.there(0, 1, 1);
    pool.there(1, 0, 1, 0);
    pool.ask(request());
    for (wrong.seat = 0; wrong.seat < 3; ++wrong.seat)  // another model's, full, not there
        EXPECT_THROW(pool.turn(wrong, orders), std::logic_error);
    EXPECT_EQ(pool.pending(), 1U);
    EXPECT_THROW(pool.there(0, 0, 1), std::logic_error);
}

// ---- tokens -------------------------------------------------------------------------------------

TEST_F(PoolTest, RunsSayWhoMadeWhatWithWhichWeights) {
    pool.there(0, 0, 3);
    const Number number = given(request());
    make(0, 0, {5, 6});
    make(0, 0, {7});
    pool.version(0, 4);
    make(0, 0, {8});
    pool.lost(0);
    pool.there(1, 0, 4);
    EXPECT_EQ(turn(), Lines{"give 0 to 1 as 1 from 4"});
    const RequestState state = pool.state({.request = number, .seat = 1, .from = 4}, "toy");
    EXPECT_EQ(state.ids, (std::vector{5, 6, 7, 8}));
    EXPECT_EQ(state.versions, (std::vector{3, 3, 3, 4}));
    EXPECT_EQ(state.log_probabilities, std::vector(4, -0.5f));
    EXPECT_EQ(state.sampled_log_probabilities, std::vector(4, -0.25f));
    EXPECT_TRUE(state.admitted);
    make(1, 1, {9}, &at_length);
    EXPECT_EQ(turn(), Lines{"0 is ended"});
    EXPECT_EQ(ids(number), (std::vector{5, 6, 7, 8, 9}));
    const auto runs = pool.runs(number);
    EXPECT_EQ(std::vector(runs.begin(), runs.end()),
              (std::vector<decode::Run>{{0, 3, 3}, {0, 4, 1}, {1, 4, 1}}));
}

TEST_F(PoolTest, ChunksOfADroppedAttemptChangeNothing) {
    pool.there(0, 0, 1);
    const Number number = given(request());
    given(request(), 1);
    make(0, 0, {5}, nullptr, 1);
    pool.lost(0);
    pool.there(0, 0, 1);
    EXPECT_EQ(turn().size(), 2U);
    EXPECT_FALSE(make(0, 0, {6}, &at_length, 2));
    pool.taken(0, 0);
    pool.refused(0, 0);
    pool.exported(0, 0, 0);
    EXPECT_EQ(turn(), Lines{});
    EXPECT_EQ(ids(number), std::vector{5});
    EXPECT_FALSE(pool.over(number));
    EXPECT_EQ(pool.places()[0].waiting, 0);
    EXPECT_EQ(pool.places()[0].given, 2);
    EXPECT_FALSE(make(0, 99, {6}));  // never was
}

TEST_F(PoolTest, AnEngineSaysHowManyWait) {
    pool.there(0, 0, 1);
    given(request());
    given(request(), 1);
    EXPECT_EQ(pool.places()[0].waiting, 0);
    make(0, 0, {5}, nullptr, 1);
    EXPECT_EQ(pool.places()[0].waiting, 1);
    pool.cancel(1);
    pool.cancel(0);
    EXPECT_EQ(pool.places()[0].waiting, 0);  // of those that it has
}

// ---- losses and ends ----------------------------------------------------------------------------

TEST_F(PoolTest, ALossIsResumedRestartedOrDropped) {
    pool.there(0, 0, 1);
    const Loss losses[] = {Loss::resume, Loss::restart, Loss::drop};
    for (Number n = 0; n < 3; ++n) {
        given(request(losses[n]), n);
        make(0, n, {5});
    }
    pool.lost(0);
    EXPECT_EQ(pool.pending(), 2U);
    pool.there(1, 0, 1);
    EXPECT_EQ(turn(), (Lines{"2 is dropped", "give 0 to 1 as 3 from 1", "give 1 to 1 as 4"}));
    EXPECT_TRUE(pool.runs(1).empty());
    EXPECT_EQ(ids(2), std::vector{5});
    EXPECT_FALSE(pool.state({.request = 1, .seat = 1}, "toy").admitted);
    EXPECT_EQ(pool.open(), 2U);
}

TEST_F(PoolTest, ARequestForOneSeatAloneIsLostWithIt) {
    pool.there(0, 0, 1);
    pool.there(1, 0, 1, 1);
    for (int i = 0; i < 2; ++i) {
        Ask bound = request();
        bound.only = 1;
        pool.ask(bound);
    }
    EXPECT_EQ(turn(), Lines{"give 0 to 1 as 0"});  // the other waits, whoever else takes
    pool.move(0, 0, false);
    EXPECT_EQ(turn(), Lines{});
    pool.lost(1);
    EXPECT_EQ(turn(), (Lines{"0 is dropped", "1 is dropped"}));
    EXPECT_EQ(pool.open() + pool.pending(), 0U);
    Ask early = request();
    early.only = 2;
    pool.ask(early);
    EXPECT_EQ(turn(), Lines{});
    pool.lost(2);  // it was never there, and will not be
    EXPECT_EQ(turn(), Lines{"2 is dropped"});
}

TEST_F(PoolTest, NoOrderIsForASeatThatWasLostBeforeTheTurn) {
    pool.there(0, 0, 1);
    given(request());
    given(request(), 1);
    given(keeping(), 2);
    make(0, 2, {5}, &at_length);
    turn();
    pool.cancel(0);
    pool.move(1, 1, false);
    pool.release(2);
    pool.lost(0);
    pool.there(0, 0, 1);
    EXPECT_EQ(turn(), (Lines{"0 is cancelled", "give 1 to 0 as 3"}));
}

TEST_F(PoolTest, CancelledFailedAndRefused) {
    pool.there(0, 0, 1, 3);
    for (int i = 0; i < 4; ++i) pool.ask(request());
    turn();
    pool.cancel(3);  // waits
    pool.cancel(0);
    pool.cancel(0);
    pool.refused(0, 1);
    const EndedRequest no_blocks{.why = Finish::no_blocks};
    make(0, 2, {}, &no_blocks);
    EXPECT_EQ(turn(), (Lines{"3 is cancelled", "remove 0 from 0", "0 is cancelled", "1 is failed",
                             "2 is failed"}));
    pool.cancel(2);  // over
    EXPECT_EQ(turn(), Lines{});
    EXPECT_EQ(pool.open() + pool.pending(), 0U);
    EXPECT_EQ(pool.places()[0].given, 0);
}

TEST_F(PoolTest, WhatIsTakenBackGoesOnFromItsTokens) {
    pool.there(0, 0, 1);
    given(request(Loss::restart));
    make(0, 0, {5});
    pool.take_back(0);
    EXPECT_EQ(turn(), (Lines{"remove 0 from 0", "give 0 to 0 as 1 from 1"}));
}

TEST_F(PoolTest, OnlyWhatIsOverIsForgotten) {
    pool.there(0, 0, 1);
    given(request());
    EXPECT_THROW(pool.forget(0), std::logic_error);
    make(0, 0, {5}, &at_length);
    pool.forget(0);
    EXPECT_EQ(turn(), Lines{"0 is ended"});
    EXPECT_THROW(pool.tokens(0), std::out_of_range);
    EXPECT_EQ(pool.ask(request()), 1);  // no number again
}

// ---- moves: the rest is in pool_moves_test.cpp --------------------------------------------------

TEST_F(PoolTest, AMoveTakesTheStateAlong) {
    pool.there(0, 0, 1);
    given(request());
    pool.there(1, 0, 1);
    make(0, 0, {5});
    pool.move(0, 1, true);
    pool.move(0, 1, true);  // moves already
    EXPECT_EQ(turn(), Lines{"export 0 from 0 with cache"});
    make(0, 0, {6});
    pool.exported(0, 0, 77);
    EXPECT_EQ(turn(), Lines{"give 0 to 1 as 1 from 2 with state 77"});
    pool.refused(1, 1);  // of other weights: from its tokens
    EXPECT_EQ(turn(), Lines{"give 0 to 1 as 2 from 2"});
    pool.refused(1, 2);  // nor so: it goes to whoever has not refused it
    EXPECT_EQ(turn(), Lines{"give 0 to 0 as 3 from 2"});
    pool.refused(0, 3);
    EXPECT_EQ(turn(), Lines{"0 is failed"});
}

TEST_F(PoolTest, WhatIsRefusedBeforeItsExportWasNeverThere) {
    pool.there(0, 0, 1);
    pool.ask(request());
    turn();
    pool.there(1, 0, 1);
    pool.move(0, 1, false);
    pool.refused(0, 0);  // the Give; of an Export of what it has not, an engine says nothing
    EXPECT_EQ(turn(), (Lines{"export 0 from 0", "give 0 to 1 as 1"}));
}

// ---- kept sequences -----------------------------------------------------------------------------

TEST_F(PoolTest, WhatIsKeptIsKnownBySeat) {
    pool.there(0, 0, 1);
    const Number kept = given(keeping());
    make(0, 0, {5}, &at_length);
    pool.there(1, 0, 1, 1);
    pool.open(0, false);
    Ask copy = keeping();
    copy.copy_of = kept;
    copy.tokens = {{5, -0.5f, 0}};
    const Number number = pool.ask(copy);
    EXPECT_EQ(turn(), (Lines{"0 is ended", "give 1 to 1 as 1 from 1"}));
    EXPECT_EQ(pool.runs(number)[0], (decode::Run{-1, 1, 1}));
    make(1, 1, {6}, &at_length);
    EXPECT_EQ(pool.kept(kept, 0), 0);
    EXPECT_EQ(pool.kept(kept, 1), 1);
    EXPECT_EQ(pool.kept(number, 1), std::nullopt);

    Ask linked = request();
    linked.request.links.emplace().linked.push_back({.kept = kept, .count = 1});
    given(linked, 2);
    EXPECT_EQ(pool.state({.request = 2, .seat = 1}, "toy").request.links->linked[0].kept, 1);
    EXPECT_EQ(pool.state({.request = 2, .seat = 0}, "toy").request.links->linked[0].kept, 0);
    EXPECT_TRUE(pool.bound(2));
    pool.open(0, true);
    pool.move(2, 0, false);  // bound
    EXPECT_EQ(turn(), Lines{});

    pool.release(kept, 0);
    EXPECT_EQ(turn(), Lines{"unkeep 0 on 0"});
    EXPECT_EQ(pool.kept(kept, 0), std::nullopt);
    pool.lost(1);
    EXPECT_EQ(pool.kept(kept, 1), std::nullopt);
}

TEST_F(PoolTest, OfTwoCopiesOnASeatTheFirstIsLetGo) {
    pool.there(0, 0, 1);
    const Number kept = given(keeping());
    make(0, 0, {5}, &at_length);
    Ask copy = keeping();
    copy.copy_of = kept;
    given(copy, 1);
    make(0, 1, {5}, &at_length);
    EXPECT_EQ(turn(), (Lines{"unkeep 0 on 0", "1 is ended"}));
    pool.release(kept);
    EXPECT_EQ(turn(), Lines{"unkeep 1 on 0"});
    given(copy, 2);
    make(0, 2, {5}, &at_length);  // nothing is kept of it any more
    EXPECT_EQ(turn(), (Lines{"unkeep 2 on 0", "2 is ended"}));
}

TEST_F(PoolTest, WhatIsLinkedGoesOnlyWhereThatIsKept) {
    pool.there(0, 0, 1);
    const Number kept = given(keeping());
    Ask linked = request();
    linked.only = 0;
    linked.request.links.emplace().linked.push_back({.kept = kept, .count = 1});
    const Number number = pool.ask(linked);
    EXPECT_EQ(turn(), Lines{});
    EXPECT_FALSE(pool.has_linked(number, 0));
    make(0, 0, {5}, &at_length);
    EXPECT_EQ(turn(), (Lines{"0 is ended", "give 1 to 0 as 1"}));
    struct Wrong final : Chooser {
        std::optional<Seat> choose(Number, std::span<const Place>) override { return 1; }
    } wrong;
    pool.there(1, 0, 1);
    linked.only.reset();
    pool.ask(linked);
    std::vector<Order> orders;
    EXPECT_THROW(pool.turn(wrong, orders), std::logic_error);
}

TEST_F(PoolTest, WhatIsReleasedIsThereForThoseThatWereGivenIt) {
    pool.there(0, 0, 1);
    const Number kept = given(keeping());
    make(0, 0, {5}, &at_length);
    turn();
    Ask linked = request();
    linked.request.links.emplace().linked.push_back({.kept = kept, .count = 1});
    const Number number = pool.ask(linked);
    EXPECT_EQ(turn(), Lines{"give 1 to 0 as 1"});
    pool.release(kept);  // before that was carried out
    EXPECT_EQ(pool.state({.request = number, .seat = 0, .attempt = 1}, "toy")
                  .request.links->linked[0]
                  .kept,
              0);
    EXPECT_EQ(turn(), Lines{"unkeep 0 on 0"});
    pool.lost(0);  // and it is nowhere else, nor will be
    EXPECT_EQ(turn(), Lines{"1 is dropped"});
    pool.ask(linked);
    EXPECT_EQ(turn(), Lines{"2 is dropped"});
    EXPECT_EQ(pool.open() + pool.pending(), 0U);
}

}  // namespace
}  // namespace assay::decode
