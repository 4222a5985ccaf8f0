// Engines in processes of their own: tokens are those of an engine in this one.
#include <gmock/gmock.h>

#include "served_engines.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::decode {
namespace {

class EngineProcess : public ServedEngines {};

TEST_P(EngineProcess, ServesWhatAnEngineInThisProcessServes) {
    EngineClient& engine = engines.start(settings());
    std::map<Number, std::vector<Token>> told;
    engines.hear_requests({.tokens =
                               [&](Number request, std::span<const Token> tokens) {
                                   EXPECT_FALSE(done.contains(request));
                                   told[request].insert(told[request].end(), tokens.begin(),
                                                        tokens.end());
                               },
                           .done = [&](const Done& one) { done[one.request] = one; }});
    const BatchRequest a = request(10, 20, 30), b = request(11, 25, 20);
    const Number first = engines.ask({.request = a}), second = engines.ask({.request = b});
    until(engines, [&] { return pool.open() == 0; });
    EXPECT_EQ(engine.version(), 1);
    expect_same(pool, first, alone(a));
    expect_same(pool, second, alone(b));
    for (const Number each : {first, second}) {
        EXPECT_EQ(done.at(each).how, Done::How::ended);
        EXPECT_EQ(done.at(each).end.why, Finish::length);
        EXPECT_TRUE(std::ranges::equal(told[each], pool.tokens(each)));
    }
    engine.empty_cache();
    const EngineStats stats = stats_of(engine);
    EXPECT_EQ(stats.held_blocks, 0);
    EXPECT_EQ(stats.steps, engine.steps());
    BatchRequest scored = request(10, 20, 3);
    scored.prompt_log_probabilities = true;
    const Number third = engines.ask({.request = scored});
    until_over(third);
    EXPECT_EQ(done.at(third).end.prompt_log_probabilities.size(), 19u);
    engine.leave();
    until(engines, [&] { return engine.lost(); });
    EXPECT_EQ(engine.how_lost(), "exit 0");
}

TEST_P(EngineProcess, IsASeatLikeAnEngineOfThisProcess) {
    const BatchRequest a = request(10, 20, 100), b = request(11, 17, 60), c = request(13, 9, 100);
    // One is cancelled, and one taken back that goes on later.
    const auto course = [&](auto& some, auto& engine) {
        Pool& asked = some.pool();
        const Number first = asked.ask({.request = a}), second = asked.ask({.request = b}),
                     third = asked.ask({.request = c});
        until(some, [&] {
            return std::min({asked.tokens(first).size(), asked.tokens(second).size(),
                             asked.tokens(third).size()}) >= 3;
        });
        const Seat seat = asked.places().front().seat;
        for (int twice = 0; twice < 2; ++twice) asked.cancel(third);
        asked.open(seat, false);
        asked.take_back(first);
        const std::size_t known = asked.tokens(first).size(), heard = asked.tokens(third).size();
        until(some, [&] { return asked.over(second); });
        EXPECT_EQ(asked.tokens(first).size(), known);
        EXPECT_EQ(asked.pending(), 1u);
        asked.open(seat, true);
        until(some, [&] { return asked.open() == 0; });
        expect_same(asked, first, alone(a));
        expect_same(asked, second, alone(b));
        const std::vector<MadeToken> whole = alone(c);
        ASSERT_LT(heard, whole.size());
        expect_same(asked, third, std::span(whole).first(heard));
        engine.empty_cache();
        const EngineStats stats = stats_of(engine);
        EXPECT_EQ(stats.held_blocks + stats.running + stats.waiting, 0);
    };
    course(engines, engines.start(settings(0.005)));
    EngineHere here(model, settings());
    course(here, here.engine);
}

TEST_P(EngineProcess, RefusesWhatDoesNotFit) {
    EngineClient& engine = engines.start(settings());
    const Number early = engines.ask({.request = request(190, 20, 1)});  // ids beyond 200
    until_over(early);
    EXPECT_EQ(done.at(early).how, Done::How::failed);
    EXPECT_EQ(engine.refusals().size(), 1u);
    EXPECT_THROW(engines.ask({.request = request(190, 20, 1)}), UserError);
    EXPECT_THROW(engines.ask({.request = request(10, 0, 1)}), UserError);
    EXPECT_EQ(pool.open(), 0u);
    EXPECT_THROW(engine.begin_commit(BatchEngine::Cache::keep), std::logic_error);
}

TEST_P(EngineProcess, LinksAreThoseOfTheEngineInThisProcess) {
    BatchRequest first = request(10, 20, 12), second = request(40, 3, 9);
    // Part of the first one's prompt and of what it made, in the middle of another prompt.
    const auto course = [&](auto& some, auto& engine) {
        Pool& asked = some.pool();
        const Number kept = asked.ask({.request = with(first, {.keep = true})});
        until(some, [&] { return asked.over(kept); });
        std::vector<int> tokens = first.prompt;
        for (const Token& token : asked.tokens(kept)) tokens.push_back(token.id);
        BatchRequest other = second;
        other.prompt.insert(other.prompt.end(), tokens.begin() + 4, tokens.begin() + 28);
        other.prompt.push_back(3);
        Links links{.keep = true, .linked = {{.kept = kept, .first = 4, .count = 24, .at = 3}}};
        Links beyond = links;
        beyond.linked[0].first = 8;  // its last token was never fed
        const Number refused = asked.ask({.request = with(other, beyond)});
        const Number linked = asked.ask({.request = with(other, links)});
        until(some, [&] { return asked.over(refused) && asked.tokens(linked).size() >= 4; });
        EXPECT_TRUE(asked.tokens(refused).empty());
        asked.take_back(linked);  // it goes on with the same links
        until(some, [&] { return asked.over(linked); });
        EXPECT_TRUE(asked.kept(linked, asked.places().front().seat));
        for (int twice = 0; twice < 2; ++twice) asked.release(kept);
        const Number unlinked = asked.ask({.request = with(other, links)});
        const Number last = asked.ask({.request = second});
        until(some, [&] { return asked.over(last); });
        EXPECT_FALSE(asked.seat(unlinked));  // it waits for what is not kept any more
        asked.cancel(unlinked);
        engine.empty_cache();
        EXPECT_GT(stats_of(engine).held_blocks, 0);
        asked.release(linked);
        some.go_on();
        EXPECT_EQ(stats_of(engine).held_blocks, 0);
        std::vector<Token> made;
        for (const Number each : {kept, linked, last})
            made.insert(made.end(), asked.tokens(each).begin(), asked.tokens(each).end());
        EXPECT_EQ(made.size(), 30u);
        return made;
    };
    EngineClient& client = engines.start(settings(0.005));
    const std::vector<Token> heard = course(engines, client);
    EngineHere here(model, settings());
    EXPECT_EQ(heard, course(here, here.engine));
    if (!GetParam()) return;
    // What is kept stays with its weights, and where it is.
    EngineClient& other = engines.start(settings());
    other.wait_until_ready();
    const Number kept = ask_at(client, with(first, {.keep = true}));
    pool.move(kept, other.seat(), false);
    EXPECT_FALSE(pool.moves(kept));
    client.load(2, "2");
    until(engines, [&] { return client.prepared() == 2 && pool.over(kept); });
    EXPECT_EQ(pool.runs(kept).back().seat, client.seat());
    EXPECT_THROW(client.commit(BatchEngine::Cache::recompute), UserError);
    EXPECT_EQ(client.version(), 1);
    pool.release(kept);
    client.commit(BatchEngine::Cache::recompute);
    EXPECT_EQ(client.version(), 2);
}

TEST_P(EngineProcess, PausesLoadsAndCommits) {
    EngineClient& engine = engines.start(settings(0.002));
    const Number first = engines.ask({.request = request(10, 20, 140)});
    until_made(first, 3);
    engine.pause();
    const std::int64_t paused = engine.steps();
    EXPECT_FALSE(engines.hear_until([&] { return engine.steps() > paused; }, 0.05));
    EXPECT_TRUE(engine.status().paused);
    engine.go_on();
    engine.load(2, "late 2");
    const service::Status status = engine.status();  // answered while they come
    EXPECT_EQ(status.loading, 2);
    EXPECT_EQ(status.prepared, 0);
    until_made(first, pool.tokens(first).size() + 3);  // … and tokens are made
    EXPECT_EQ(engine.status().loading, 2);
    EXPECT_EQ(pool.runs(first).back().version, 1);
    until(engines, [&] { return engine.prepared() == 2; });
    engine.commit(BatchEngine::Cache::recompute);
    EXPECT_EQ(engine.version(), 2);
    const Number second = engines.ask({.request = request(12, 20, 3)});
    until(engines, [&] { return pool.open() == 0; });
    EXPECT_THAT(pool.runs(second), testing::ElementsAre(decode::Run{engine.seat(), 2, 3}));
    const auto runs = pool.runs(first);
    EXPECT_LE(runs.size(), 2u);  // one, where it was over before
    for (std::size_t i = 0; i < runs.size(); ++i)
        EXPECT_EQ(runs[i].version, static_cast<int>(i) + 1);
    engine.load(2, "1");
    until(engines, [&] { return !engine.why_not_loaded().empty(); });
}

TEST_P(EngineProcess, ModelledDurationsPaceIt) {
    constexpr double step_s = 0.01;
    const double real_s = cluster::monotonic_s();
    EngineClient& engine = engines.start(settings(step_s));
    EngineClient& slowed = engines.start(settings(step_s));
    engine.wait_until_ready();
    slowed.wait_until_ready();
    const double start_s = processes.driver.now();
    const Number first = ask_at(engine, request(10, 20, 30)),
                 second = ask_at(slowed, request(10, 20, 30));
    processes.driver.strike({.kind = FaultKind::slow, .rank = slowed.worker(), .factor = 2});
    double end_s = 0, slowed_end_s = 0;
    until(engines, [&] {
        const double now_s = processes.driver.now() - start_s;
        if (pool.over(first) && end_s == 0) end_s = now_s;
        if (pool.over(second) && slowed_end_s == 0) slowed_end_s = now_s;
        return end_s > 0 && slowed_end_s > 0;
    });
    for (const EngineClient* const each : {&engine, &slowed})
        EXPECT_NEAR(each->step_seconds(), 30 * step_s, 1e-9);  // by the model's clock
    EXPECT_NEAR(end_s, 30 * step_s, 1e-9);
    EXPECT_GT(slowed_end_s, 59 * step_s);  // the first step may have begun
    EXPECT_GT(cluster::monotonic_s() - real_s, slowed_end_s);
}

INSTANTIATE_TEST_SUITE_P(Of, EngineProcess, testing::Bool(),
                         [](const auto& info) { return info.param ? "ADecoder" : "Hashes"; });

}  // namespace
}  // namespace assay::decode
