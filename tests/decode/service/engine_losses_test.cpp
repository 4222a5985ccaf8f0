// Requests that move between engines in processes of their own, or lose theirs: their tokens are
// those of an engine in this process.
#include <gmock/gmock.h>

#include "served_engines.hpp"

namespace assay::decode {
namespace {

class EngineLosses : public ServedEngines {
  protected:
    /// It began here and ended there.
    void expect_went(Number request, const EngineClient& from, const EngineClient& to) const {
        EXPECT_EQ(pool.runs(request).front().seat, from.seat());
        EXPECT_EQ(pool.runs(request).back().seat, to.seat());
    }
};

// The text goes on where the request does; versions are called alike and are other weights.
TEST_P(EngineLosses, TextsStopAMovedRequestAndOtherWeightsDoNotTakeItsCache) {
    const BatchRequest asked = request(11, 20, 60);
    const std::vector<MadeToken> expected = alone(asked);
    EngineClient& from = engines.start(settings(0.01));
    EngineSettings different = settings();
    different.weights = "2";
    EngineClient& same = engines.start(settings(0.002));
    EngineClient& other = engines.start(different);
    for (const EngineClient* const each : {&same, &other}) each->wait_until_ready();
    BatchRequest stopped = asked;
    stopped.stops = {std::to_string(expected[28].id) + ' ' + std::to_string(expected[29].id) + ' ' +
                     std::to_string(expected[30].id)};
    const Number moved = ask_at(from, stopped);
    until_made(moved, 5);
    pool.move(moved, same.seat(), true);
    until_over(moved);
    expect_went(moved, from, same);
    EXPECT_TRUE(same.refusals().empty());
    EXPECT_EQ(done.at(moved).end.why, Finish::stop);
    expect_same(pool, moved, std::span(expected).first(31));  // with the token that completes it

    const Number refused = ask_at(from, asked);
    until_made(refused, 5);
    pool.move(refused, other.seat(), true);
    until_over(refused);
    expect_went(refused, from, other);
    ASSERT_EQ(other.refusals().size(), 1u);
    EXPECT_TRUE(other.refusals()[0].cache);
    EXPECT_EQ(done.at(refused).end.why, Finish::length);
}

TEST_P(EngineLosses, RequestsMoveFromTheirTokensOrWithTheirCache) {
    EngineClient& from = engines.start(settings(0.01));
    EngineClient& to = engines.start(settings());
    to.wait_until_ready();
    const BatchRequest asked = request(11, 40, 60);
    for (const bool with_cache : {false, true}) {
        to.empty_cache();
        const std::int64_t computed = stats_of(to).computed_tokens;
        const Number moved = ask_at(from, asked);
        until_made(moved, 5);
        pool.move(moved, to.seat(), with_cache);
        until_over(moved);
        expect_went(moved, from, to);
        expect_same(pool, moved, alone(asked));
        EXPECT_TRUE(to.refusals().empty());
        // All but the prompt's 40, or these too.
        EXPECT_EQ(stats_of(to).computed_tokens - computed < 60, with_cache);
        EXPECT_EQ(stats_of(from).running + stats_of(from).waiting, 0);
    }
}

TEST_P(EngineLosses, ADamagedStateIsRefusedAndTheTokensGoOn) {
    EngineClient& from = engines.start(settings(0.01));
    EngineClient& to = engines.start(settings());
    to.wait_until_ready();
    const BatchRequest asked = request(10, 30, 60);
    for (const std::size_t refusals : {1, 1}) {  // then the fault is over
        const Number moved = ask_at(from, asked);
        until_made(moved, 5);
        if (to.refusals().empty()) strike(from, FaultKind::corrupt);
        pool.move(moved, to.seat(), true);
        until_over(moved);
        expect_went(moved, from, to);
        expect_same(pool, moved, alone(asked));
        ASSERT_EQ(to.refusals().size(), refusals);
        EXPECT_FALSE(to.refusals()[0].cache);
    }
}

TEST_P(EngineLosses, WhatALostEngineHadGoesOnElsewhere) {
    EngineClient& lost = engines.start(settings(0.01));
    EngineClient& other = engines.start(settings());
    other.wait_until_ready();
    const BatchRequest a = request(10, 20, 100), b = request(11, 25, 100);
    const Number first = ask_at(lost, a), second = ask_at(lost, b);
    until_made(second, 4);
    processes.driver.supervisor().kill(lost.worker());
    until(engines, [&] { return pool.open() == 0; });
    EXPECT_EQ(lost.how_lost(), "signal 9");
    EXPECT_THROW(lost.status(), EngineLost);
    for (const Number each : {first, second}) expect_went(each, lost, other);
    expect_same(pool, first, alone(a));
    expect_same(pool, second, alone(b));
}

TEST_P(EngineLosses, AShortHangIsSurvivedAndALongOneIsNot) {
    EngineClient& engine = engines.start(settings(0.002));
    const BatchRequest asked = request(11, 20, 100);
    const Number first = engines.ask({.request = asked});
    until_made(first, 3);
    processes.driver.supervisor().hang(engine.worker(), cluster::Seconds(0.1));
    until_over(first);
    expect_same(pool, first, alone(asked));
    const Number second = engines.ask({.request = asked});
    until_made(second, 3);
    processes.driver.supervisor().hang(engine.worker(), std::nullopt);
    until(engines, [&] { return engine.lost(); });
    EXPECT_THAT(engine.how_lost(), testing::StartsWith("heartbeat lost"));
    EXPECT_EQ(pool.pending(), 1u);
}

TEST_P(EngineLosses, NotANumberEndsItsRequestAlone) {
    EngineClient& engine = engines.start(settings(0.002));
    const BatchRequest a = request(10, 20, 40), b = request(11, 20, 40);
    const Number first = engines.ask({.request = a}), second = engines.ask({.request = b});
    until_made(second, 2);
    strike(engine, FaultKind::nan);
    until(engines, [&] { return pool.open() == 0; });
    const bool hit_first = done.at(first).how == Done::How::failed;
    EXPECT_EQ(done.at(hit_first ? first : second).end.why, Finish::failed);
    expect_same(pool, hit_first ? second : first, alone(hit_first ? b : a));
}

INSTANTIATE_TEST_SUITE_P(Of, EngineLosses, testing::Bool(),
                         [](const auto& info) { return info.param ? "ADecoder" : "Hashes"; });

TEST(EngineProcesses, AnEngineThatCannotStartIsLost) {
    ProcessEngines processes(engine_role(models_of_files()));
    EngineClient& engine = processes.engines.start({.weights = "/no/such/file.gguf", .blocks = 4});
    EXPECT_THROW(engine.wait_until_ready(), EngineLost);
    EXPECT_THAT(engine.how_lost(), testing::HasSubstr("/no/such/file.gguf"));
}

/// Says to be ready, and then what its weights are called by.
drive::Role liar() {
    return {.name = "engine", .protocol = [](drive::Worker& me) -> drive::Protocol {
                const std::string kind = me.configuration<EngineSettings>().weights;
                me.say(service::Ready{{.vocabulary = 9, .context = 9}, 1});
                if (kind == "mumbles")
                    me.say(drive::AnyMessage::of_json({{"type", "made"}, {"steps", "many"}}));
                if (kind == "lies")
                    me.say(service::Made{.steps = 1, .tokens = {{3, 1, 1, 0, 0}}, .ended = {}});
                const auto given = co_await me.receive();
                if (kind == "hands out" && given)
                    me.say(service::Exported{given->to<service::Take>().request, "state"});
                co_await me.receive();
            }};
}

TEST(EngineProcesses, WhoBreaksTheRulesIsLost) {
    ProcessEngines processes(liar());
    Engines& engines = processes.engines;
    EngineClient& one = engines.start({.weights = "lies"});
    EngineClient& another = engines.start({.weights = "mumbles"});
    EngineClient& third = engines.start({.weights = "hands out"});
    const Number request = engines.pool().ask({.request = {.prompt = {1}}, .only = third.seat()});
    for (const EngineClient* const engine : {&one, &another, &third})
        EXPECT_TRUE(engines.hear_until([&] { return engine->lost(); }, long_enough));
    EXPECT_THAT(one.how_lost(), testing::HasSubstr("a token of request 3"));
    EXPECT_THAT(another.how_lost(), testing::HasSubstr("made.steps"));
    EXPECT_THAT(third.how_lost(), testing::HasSubstr("which it was not asked for"));
    EXPECT_TRUE(engines.pool().over(request));
}

TEST(EngineProcesses, ACommitIsRefusedWhereOtherWeightsCameInBetween) {
    ProcessEngines processes(
        {.name = "engine", .protocol = [](drive::Worker& me) -> drive::Protocol {
             me.say(service::Ready{{.vocabulary = 9, .context = 9}, 1});
             me.say(service::Loaded{2, 0});
             co_await me.receive();  // the commit of version 2
             me.say(service::Loaded{3, 0});
             me.say(service::NotLoaded{2, "version 2 is not there"});
             co_await me.receive();
         }});
    Engines& engines = processes.engines;
    EngineClient& engine = engines.start({});
    ASSERT_TRUE(engines.hear_until([&] { return engine.prepared() == 2; }, long_enough));
    EXPECT_THROW(engine.commit(BatchEngine::Cache::recompute), UserError);
    EXPECT_EQ(engine.version(), 1);
    EXPECT_EQ(engine.prepared(), 3);
}

}  // namespace
}  // namespace assay::decode
