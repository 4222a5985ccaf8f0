// Engines in processes of their own: tokens are those of an engine in this one, whatever befalls
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "impls/decode/campaign/served_models.hpp"
#include "impls/decode/service/process_engines.hpp"
#include "suite/base/error.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::decode {
namespace {

using cluster::Seconds;

constexpr double long_enough = 30;  // seconds

/// Weights "late 7" take a while to come.
EngineModel sometimes_late(EngineModel model) {
    model.load = [load = model.load](const EngineSettings& settings, const WeightsOrigin& origin) {
        const auto& weights = std::get<std::string>(origin);
        const bool late = weights.starts_with("late ");
        if (late) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return load(settings, late ? weights.substr(5) : weights);
    };
    return model;
}

/// Steps take what is modelled, where that is.
drive::ProcessOptions paced() {
    drive::ProcessOptions options;
    options.supervisor.heartbeat_timeout = Seconds(1);
    options.pace = drive::Pace::steady;
    return options;
}

class EngineProcess : public testing::TestWithParam<bool> {
  protected:
    EngineProcess()
        : model(GetParam() ? served_decoder() : served_hashes()),
          processes(engine_role(sometimes_late(model.model)), paced()),
          engines(processes.engines) {}

    void strike(const EngineClient& engine, FaultKind kind) {
        Fault fault{.kind = kind, .rank = engine.worker()};
        if (kind == FaultKind::corrupt) fault.target = "tensor";
        processes.driver.strike(fault);
    }

    EngineSettings settings(double step_s = 0) const {
        EngineSettings settings;
        settings.options.model = model.name;
        settings.weights = "1";
        settings.blocks = 40;
        settings.threads = 1;
        if (step_s > 0) settings.pace = StepCost{.fixed_s = step_s};
        return settings;
    }
    static BatchRequest request(int first, int count, int max_tokens) {
        BatchRequest request;
        for (int i = 0; i < count; ++i) request.prompt.push_back(first + i);
        request.max_tokens = max_tokens;
        if (first % 2 == 1) request.sampling.temperature = 1;
        return request;
    }
    static BatchRequest with(BatchRequest request, const Links& links) {
        request.links = links;
        return request;
    }
    /// What an engine in this process makes of it, alone.
    std::vector<MadeToken> alone(const BatchRequest& asked) const {
        BatchEngine engine(model.model.back_end(settings(), "1"), {.model = model.name});
        engine.submit(asked);
        StepReport report;
        while (!engine.idle()) engine.step(report);
        return report.tokens;
    }
    /// Until its requests have ended.
    static StepReport rest_of(RequestEngine& engine) {
        StepReport report;
        while (!engine.idle()) engine.step(report);
        return report;
    }
    static StepReport some_of(RequestEngine& engine, std::size_t tokens) {
        StepReport report;
        while (report.tokens.size() < tokens) {
            if (engine.idle()) throw std::logic_error("its requests have ended");
            engine.step(report);
        }
        return report;
    }
    static void expect_same(const std::vector<MadeToken>& heard,
                            const std::vector<MadeToken>& expected, int version = 1) {
        ASSERT_EQ(heard.size(), expected.size());
        for (std::size_t i = 0; i < heard.size(); ++i) {
            EXPECT_EQ(heard[i].id, expected[i].id) << i;
            EXPECT_EQ(heard[i].log_probability, expected[i].log_probability) << i;
            EXPECT_EQ(heard[i].sampled_log_probability, expected[i].sampled_log_probability) << i;
            EXPECT_EQ(heard[i].version, version) << i;
        }
    }
    static std::vector<MadeToken> of(const StepReport& report, RequestId request) {
        std::vector<MadeToken> tokens;
        for (const MadeToken& token : report.tokens)
            if (token.request == request) tokens.push_back(token);
        return tokens;
    }
    static std::vector<MadeToken> joined(std::vector<MadeToken> a,
                                         const std::vector<MadeToken>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    }

    ServedModel model;
    ProcessEngines processes;
    Engines& engines;
};

TEST_P(EngineProcess, ServesWhatAnEngineInThisProcessServes) {
    EngineClient& engine = engines.start(settings());
    const BatchRequest a = request(10, 20, 30), b = request(11, 25, 20);
    const RequestId first = engine.submit(a), second = engine.submit(b);
    EXPECT_EQ(engine.version(), 1);
    EXPECT_THAT(engine.unfinished(), testing::ElementsAre(first, second));
    const StepReport report = rest_of(engine);
    expect_same(of(report, first), alone(a));
    expect_same(of(report, second), alone(b));
    EXPECT_EQ(report.ended.size(), 2u);
    engine.empty_cache();
    const EngineStats stats = engine.stats();
    EXPECT_EQ(stats.held_blocks, 0);
    EXPECT_EQ(stats.steps, report.steps);
    BatchRequest scored = request(10, 20, 3);
    scored.prompt_log_probabilities = true;
    engine.submit(scored);
    EXPECT_EQ(rest_of(engine).ended.at(0).prompt_log_probabilities.size(), 19u);
    engine.leave();
    EXPECT_TRUE(engines.hear_until([&] { return engine.lost(); }, long_enough));
    EXPECT_EQ(engine.how_lost(), "exit 0");
}

TEST_P(EngineProcess, IsARequestEngineLikeTheOneInThisProcess) {
    const BatchRequest a = request(10, 20, 100), b = request(11, 17, 60), c = request(13, 9, 100);
    // Cancels one, and takes one out that goes on later.
    const auto course = [&](RequestEngine& engine) {
        const RequestId first = engine.submit(a), second = engine.submit(b),
                        third = engine.submit(c);
        StepReport report = some_of(engine, 9);
        EXPECT_THAT(engine.unfinished(), testing::ElementsAre(first, second, third));
        EXPECT_EQ(engine.version(), 1);
        EXPECT_TRUE(engine.cancel(third, report));
        const RequestState state = engine.state_of(first);
        const auto known = of(report, first);
        EXPECT_EQ(state.ids.size(), known.size());
        engine.remove(first);
        EXPECT_THROW(engine.state_of(first), std::out_of_range);
        engine.step(report);
        const RequestId again = engine.resume(state);
        while (!engine.idle()) engine.step(report);
        expect_same(joined(known, of(report, again)), alone(a));
        expect_same(of(report, second), alone(b));
        EXPECT_EQ(of(report, first).size(), known.size());
        EXPECT_EQ(report.ended.size(), 3u);
        engine.empty_cache();
        EXPECT_EQ(engine.stats().held_blocks, 0);
    };
    course(engines.start(settings(0.002)));
    BatchEngine engine(model.model.back_end(settings(), "1"), {.model = model.name});
    course(engine);
}

TEST_P(EngineProcess, RefusesAtOnceWhatDoesNotFit) {
    EngineClient& engine = engines.start(settings());
    EXPECT_THROW(engine.submit(request(10, 0, 1)), UserError);
    EXPECT_THROW(engine.submit(request(190, 20, 1)), UserError);
    RequestState state;
    state.model = "another";
    state.request = request(10, 3, 3);
    EXPECT_THROW(engine.resume(state), UserError);
    EXPECT_TRUE(engine.idle());
    EXPECT_THROW(engine.begin_commit(BatchEngine::Cache::keep), std::logic_error);
}

TEST_P(EngineProcess, CancelsAndRemovesBetweenSteps) {
    EngineClient& engine = engines.start(settings(0.002));
    const BatchRequest a = request(10, 20, 100), b = request(11, 20, 20);
    const RequestId first = engine.submit(a), second = engine.submit(b),
                    third = engine.submit(request(12, 20, 100));
    StepReport report = some_of(engine, 6);
    engine.remove(third);
    EXPECT_TRUE(engine.cancel(first, report));
    EXPECT_FALSE(engine.cancel(first, report));
    const std::size_t heard = of(report, first).size();
    EXPECT_GT(heard, 0u);
    EXPECT_LT(heard, 100u);
    const StepReport rest = rest_of(engine);
    EXPECT_TRUE(of(rest, first).empty());
    EXPECT_TRUE(of(rest, third).empty());
    expect_same(joined(of(report, second), of(rest, second)), alone(b));
    EXPECT_EQ(rest.ended.size(), 1u);
}

TEST_P(EngineProcess, LinksAreThoseOfTheEngineInThisProcess) {
    BatchRequest first = request(10, 20, 12), second = request(40, 3, 9);
    // Part of the first one's prompt and of what it made, in the middle of another prompt.
    const auto course = [&](RequestEngine& engine) {
        const RequestId kept = engine.submit(with(first, {.keep = true}));
        StepReport report = rest_of(engine);
        std::vector<int> tokens = first.prompt;
        for (const MadeToken& token : report.tokens) tokens.push_back(token.id);
        BatchRequest other = second;
        other.prompt.insert(other.prompt.end(), tokens.begin() + 4, tokens.begin() + 28);
        other.prompt.push_back(3);
        Links links{.keep = true, .linked = {{.kept = kept, .first = 4, .count = 24, .at = 3}}};
        Links beyond = links;
        beyond.linked[0].first = 8;  // its last token was never fed
        EXPECT_THROW(engine.submit(with(other, beyond)), UserError);
        const RequestId linked = engine.submit(with(other, links));
        EXPECT_THROW(engine.release(kept), std::logic_error);
        EXPECT_THROW(engine.state_of(linked), UserError);
        // Taken out in the middle, it goes on with the same links.
        RequestState state{.model = model.name, .request = with(other, links)};
        for (const MadeToken& token : some_of(engine, 4).tokens) {
            state.append(token.id, token.version, token.log_probability,
                         token.sampled_log_probability);
            report.tokens.push_back(token);
        }
        engine.remove(linked);
        const RequestId again = engine.resume(state);
        const StepReport rest = rest_of(engine);
        for (const MadeToken& token : rest.tokens) report.tokens.push_back(token);
        engine.release(kept);
        engine.release(kept);  // nothing is
        EXPECT_THROW(engine.submit(with(other, links)), UserError);
        engine.empty_cache();
        EXPECT_GT(engine.stats().held_blocks, 0);
        engine.release(again);
        EXPECT_EQ(engine.stats().held_blocks, 0);
        EXPECT_EQ(report.tokens.size(), 21u);
        return report;
    };
    EngineClient& client = engines.start(settings(0.002));
    const StepReport heard = course(client);
    BatchEngine engine(model.model.back_end(settings(), "1"), {.model = model.name});
    expect_same(heard.tokens, course(engine).tokens);
    if (!GetParam()) return;
    // What is kept or linked stays with its weights, and where it is.
    EngineClient& other = engines.start(settings());
    const RequestId kept = client.submit(with(first, {.keep = true}));
    EXPECT_THROW(client.move(kept, other, false), UserError);
    client.load(2, "2");
    ASSERT_TRUE(engines.hear_until([&] { return client.prepared() == 2; }, long_enough));
    EXPECT_THROW(client.commit(BatchEngine::Cache::recompute), std::logic_error);
    rest_of(client);
    client.release(kept);
    client.commit(BatchEngine::Cache::recompute);
    EXPECT_EQ(client.version(), 2);
}

TEST_P(EngineProcess, PausesLoadsAndCommits) {
    EngineClient& engine = engines.start(settings(0.002));
    const RequestId first = engine.submit(request(10, 20, 140));
    some_of(engine, 3);
    engine.pause();
    StepReport report;
    engine.take(report);
    report.clear();
    EXPECT_FALSE(engines.hear_until(
        [&] {
            engine.take(report);
            return report.steps > 0;
        },
        0.05));
    EXPECT_TRUE(engine.status().paused);
    engine.go_on();
    engine.load(2, "late 2");
    const service::Status status = engine.status();  // answered while they come
    EXPECT_EQ(status.loading, 2);
    EXPECT_EQ(status.prepared, 0);
    report = some_of(engine, 3);  // … and tokens are made
    EXPECT_EQ(engine.status().loading, 2);
    for (const MadeToken& token : report.tokens) EXPECT_EQ(token.version, 1);
    ASSERT_TRUE(engines.hear_until([&] { return engine.prepared() == 2; }, long_enough));
    engine.commit(BatchEngine::Cache::recompute);
    EXPECT_EQ(engine.version(), 2);
    report.clear();
    engine.take(report);  // the last of the old
    const RequestId second = engine.submit(request(12, 20, 3));
    while (!engine.idle()) engine.step(report);
    for (const MadeToken& token : of(report, second)) EXPECT_EQ(token.version, 2);
    const auto long_one = of(report, first);
    EXPECT_TRUE(std::is_sorted(
        long_one.begin(), long_one.end(),
        [](const MadeToken& a, const MadeToken& b) { return a.version < b.version; }));
    engine.load(2, "1");
    EXPECT_TRUE(engines.hear_until([&] { return !engine.why_not_loaded().empty(); }, long_enough));
}

// The text goes on where the request does; versions are called alike and are other weights.
TEST_P(EngineProcess, TextsStopAMovedRequestAndOtherWeightsDoNotTakeItsCache) {
    const BatchRequest asked = request(11, 20, 60);
    const std::vector<MadeToken> expected = alone(asked);
    EngineClient& from = engines.start(settings(0.01));
    EngineSettings different = settings();
    different.weights = "2";
    EngineClient& same = engines.start(settings(0.002));
    EngineClient& other = engines.start(different);
    BatchRequest stopped = asked;
    stopped.stops = {std::to_string(expected[28].id) + ' ' + std::to_string(expected[29].id) + ' ' +
                     std::to_string(expected[30].id)};
    const RequestId here = from.submit(stopped);
    std::vector<MadeToken> made = some_of(from, 5).tokens;
    const auto moved = from.move(here, same, true);
    ASSERT_TRUE(moved);
    EXPECT_FALSE(moved->damaged || moved->recomputes);
    StepReport rest = rest_of(same);
    made.insert(made.end(), rest.tokens.begin(), rest.tokens.end());
    EXPECT_EQ(rest.ended.at(0).why, Finish::stop);
    ASSERT_EQ(made.size(), 31u);  // with the token that completes it
    expect_same(made, {expected.begin(), expected.begin() + 31});

    const RequestId again = from.submit(asked);
    some_of(from, 5);
    const auto refused = from.move(again, other, true);
    ASSERT_TRUE(refused);
    EXPECT_TRUE(refused->recomputes);
    EXPECT_FALSE(refused->damaged);
    EXPECT_EQ(rest_of(other).ended.at(0).why, Finish::length);
}

TEST_P(EngineProcess, RequestsMoveFromTheirTokensOrWithTheirCache) {
    EngineClient& from = engines.start(settings(0.01));
    EngineClient& to = engines.start(settings());
    const BatchRequest asked = request(11, 40, 60);
    for (const bool with_cache : {false, true}) {
        const RequestId there = from.submit(asked);
        const StepReport before = some_of(from, 5);
        to.empty_cache();
        const std::int64_t computed = to.stats().computed_tokens;
        const auto moved = from.move(there, to, with_cache);
        ASSERT_TRUE(moved);
        EXPECT_FALSE(moved->damaged);
        EXPECT_TRUE(from.idle());
        const StepReport after = rest_of(to);
        expect_same(joined(before.tokens, of(after, moved->request)), alone(asked));
        // All but the prompt's 40, or these too.
        EXPECT_EQ(to.stats().computed_tokens - computed < 60, with_cache);
        EXPECT_EQ(from.stats().running + from.stats().waiting, 0);
    }
    // As with engines of one process: a state, and what was not told of yet counts for nothing.
    const RequestId there = from.submit(asked);
    const StepReport before = some_of(from, 5);
    const RequestState state = from.state_of(there, true);
    EXPECT_EQ(state.ids.size(), before.tokens.size());
    EXPECT_EQ(state.kv_positions, 39 + static_cast<int>(before.tokens.size()));
    from.remove(there);
    EXPECT_TRUE(from.idle());
    to.resume(state);
    expect_same(joined(before.tokens, rest_of(to).tokens), alone(asked));
}

TEST_P(EngineProcess, ADamagedStateIsRefusedAndTheTokensGoOn) {
    EngineClient& from = engines.start(settings(0.002));
    EngineClient& to = engines.start(settings());
    const BatchRequest asked = request(10, 30, 60);
    const RequestId there = from.submit(asked);
    const StepReport before = some_of(from, 5);
    strike(from, FaultKind::corrupt);
    EXPECT_THROW(from.state_of(there, true), UserError);
    EXPECT_NO_THROW(from.state_of(there, true));  // the fault is over
    strike(from, FaultKind::corrupt);
    const auto moved = from.move(there, to, true);
    ASSERT_TRUE(moved);
    EXPECT_TRUE(moved->damaged);
    expect_same(joined(before.tokens, rest_of(to).tokens), alone(asked));
}

TEST_P(EngineProcess, WhatALostEngineHadGoesOnElsewhere) {
    EngineClient& lost = engines.start(settings(0.002));
    EngineClient& other = engines.start(settings());
    const BatchRequest a = request(10, 20, 100), b = request(11, 25, 100);
    lost.submit(a);
    lost.submit(b);
    StepReport before = some_of(lost, 8);
    processes.driver.supervisor().kill(lost.worker());
    EXPECT_THROW(for (;;) lost.step(before), EngineLost);
    EXPECT_EQ(lost.how_lost(), "signal 9");
    EXPECT_THROW(lost.stats(), EngineLost);
    EXPECT_THROW(lost.submit(a), EngineLost);
    std::vector<RequestId> there;
    for (const RequestId request : lost.unfinished())
        there.push_back(other.resume(lost.state_of(request)));
    ASSERT_EQ(there.size(), 2u);
    const StepReport after = rest_of(other);
    expect_same(joined(of(before, 0), of(after, there[0])), alone(a));
    expect_same(joined(of(before, 1), of(after, there[1])), alone(b));
}

TEST_P(EngineProcess, AShortHangIsSurvivedAndALongOneIsNot) {
    EngineClient& engine = engines.start(settings(0.002));
    const BatchRequest asked = request(11, 20, 100);
    engine.submit(asked);
    const StepReport before = some_of(engine, 3);
    processes.driver.supervisor().hang(engine.worker(), Seconds(0.1));
    expect_same(joined(before.tokens, rest_of(engine).tokens), alone(asked));
    engine.submit(asked);
    processes.driver.supervisor().hang(engine.worker(), std::nullopt);
    EXPECT_THROW(rest_of(engine), EngineLost);
    EXPECT_THAT(engine.how_lost(), testing::StartsWith("heartbeat lost"));
}

TEST_P(EngineProcess, NotANumberEndsItsRequestAlone) {
    EngineClient& engine = engines.start(settings(0.002));
    const BatchRequest a = request(10, 20, 40), b = request(11, 20, 40);
    const RequestId first = engine.submit(a), second = engine.submit(b);
    StepReport report = some_of(engine, 4);
    strike(engine, FaultKind::nan);
    const StepReport rest = rest_of(engine);
    ASSERT_EQ(rest.ended.size(), 2u);
    EXPECT_EQ(rest.ended[0].why, Finish::failed);
    const bool hit_first = rest.ended[0].request == first;
    const RequestId spared = hit_first ? second : first;
    EXPECT_EQ(rest.ended[1].request, spared);
    expect_same(joined(of(report, spared), of(rest, spared)), alone(hit_first ? b : a));
}

TEST_P(EngineProcess, ModelledDurationsPaceIt) {
    constexpr double step_s = 0.01;
    const double real_s = cluster::monotonic_s();
    EngineClient& engine = engines.start(settings(step_s));
    EngineClient& slowed = engines.start(settings(step_s));
    engine.submit(request(10, 20, 30));
    slowed.submit(request(10, 20, 30));
    const double start_s = processes.driver.now();
    processes.driver.strike({.kind = FaultKind::slow, .rank = slowed.worker(), .factor = 2});
    double end_s = 0, slowed_end_s = 0;
    StepReport report;
    ASSERT_TRUE(engines.hear_until(
        [&] {
            engine.take(report);
            slowed.take(report);
            const double now_s = processes.driver.now() - start_s;
            if (engine.idle() && end_s == 0) end_s = now_s;
            if (slowed.idle() && slowed_end_s == 0) slowed_end_s = now_s;
            return end_s > 0 && slowed_end_s > 0;
        },
        long_enough));
    EXPECT_NEAR(report.seconds, 2 * 30 * step_s, 1e-9);  // by the model's clock
    EXPECT_NEAR(end_s, 30 * step_s, 1e-9);
    EXPECT_GT(slowed_end_s, 59 * step_s);  // the first step may have begun
    EXPECT_GT(cluster::monotonic_s() - real_s, slowed_end_s);
}

INSTANTIATE_TEST_SUITE_P(Of, EngineProcess, testing::Bool(),
                         [](const auto& info) { return info.param ? "ADecoder" : "Hashes"; });

TEST(EngineProcesses, AnEngineThatCannotStartIsLost) {
    ProcessEngines processes(engine_role(models_of_files()));
    EngineClient& engine = processes.engines.start({.weights = "/no/such/file.gguf", .blocks = 4});
    EXPECT_THROW(engine.submit({.prompt = {1}}), EngineLost);
    EXPECT_THAT(engine.how_lost(), testing::HasSubstr("/no/such/file.gguf"));
}

TEST(EngineProcesses, WhoBreaksTheRulesIsLost) {
    // It says to be ready, and has a request that nobody gave it.
    ProcessEngines processes(
        {.name = "engine", .protocol = [](drive::Worker& me) -> drive::Protocol {
             me.say(service::Ready{{.vocabulary = 9, .context = 9}, 1});
             if (me.configuration<EngineSettings>().weights == "mumbles")
                 me.say(drive::AnyMessage::of_json({{"type", "made"}, {"steps", "many"}}));
             else
                 me.say(service::Made{.steps = 1, .tokens = {{3, 1, 1, 0, 0}}, .ended = {}});
             co_await me.receive();
         }});
    Engines& engines = processes.engines;
    EngineClient& liar = engines.start({});
    EngineClient& mumbler = engines.start({.weights = "mumbles"});
    for (const EngineClient* const engine : {&liar, &mumbler})
        EXPECT_TRUE(engines.hear_until([&] { return engine->lost(); }, long_enough));
    EXPECT_THAT(liar.how_lost(), testing::HasSubstr("a token of request 3"));
    EXPECT_THAT(mumbler.how_lost(), testing::HasSubstr("made.steps"));
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
