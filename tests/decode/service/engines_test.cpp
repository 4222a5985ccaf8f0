// Engines on a driver of either clock: the same calls, the same tokens.
#include "impls/decode/service/engines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "impls/decode/campaign/served_models.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::decode {
namespace {

EngineSettings settings() {
    EngineSettings settings{.weights = "1", .blocks = 40, .pace = StepCost{.fixed_s = 0.01}};
    settings.options.model = "hashes";
    settings.load_s = 0.05;
    return settings;
}

class VirtualEngines {
  public:
    explicit VirtualEngines(std::vector<drive::Role> others = {}, drive::Nic nic = {})
        : driver_(roles(std::move(others), nic), time_, latencies_, {}, recorder_),
          engines(driver_) {}
    drive::Driver& driver() { return driver_; }
    void strike(const EngineClient& engine, Fault fault) {
        fault.rank = engine.worker();
        driver_.strike(fault);
    }

  private:
    static std::vector<drive::Role> roles(std::vector<drive::Role> roles, drive::Nic nic) {
        roles.push_back(engine_role(served_hashes().model));
        roles.back().nic = nic;
        return roles;
    }
    MemoryRecorder recorder_;
    drive::EventQueue time_;
    drive::ConstantLatencies latencies_{0.001, 0.5, 0.1};
    drive::VirtualCluster driver_;

  public:
    Engines engines;
};

/// A request is made half here, half there; then new weights.
struct Course {
    std::vector<Token> tokens;
    std::vector<int> versions;
};
Course course(Engines& engines) {
    Pool& pool = engines.pool();
    EngineClient& from = engines.start(settings());
    EngineClient& to = engines.start(settings(), 0, "second");
    EXPECT_TRUE(engines.hear_until([&] { return from.ready() && to.ready(); }));
    const Number moved = pool.ask({.request = {.prompt = {1, 2, 3}, .max_tokens = 40}});
    EXPECT_TRUE(engines.hear_until([&] { return pool.tokens(moved).size() >= 11; }));
    pool.move(moved, to.seat(), true);
    EXPECT_TRUE(engines.hear_until([&] { return pool.over(moved); }));
    EXPECT_EQ(pool.runs(moved).front().seat, from.seat());
    EXPECT_EQ(pool.runs(moved).back().seat, to.seat());
    EXPECT_TRUE(to.refusals().empty());
    to.load(2, "2");
    EXPECT_TRUE(engines.hear_until([&] { return to.prepared() == 2; }));
    to.commit(BatchEngine::Cache::recompute);
    const Number other = pool.ask({.request = {.prompt = {5}, .max_tokens = 3}, .only = to.seat()});
    EXPECT_TRUE(engines.hear_until([&] { return pool.over(other); }));
    to.empty_cache();
    EXPECT_EQ(to.status().stats.held_blocks, 0);
    for (EngineClient* const engine : {&from, &to}) engine->leave();
    EXPECT_TRUE(engines.hear_until([&] { return from.lost() && to.lost(); }));
    EXPECT_EQ(to.how_lost(), "exit 0");
    Course made;
    for (const Number each : {moved, other}) {
        for (const Token& token : pool.tokens(each)) made.tokens.push_back(token);
        for (const auto& run : pool.runs(each))
            made.versions.insert(made.versions.end(), static_cast<std::size_t>(run.tokens),
                                 run.version);
    }
    return made;
}

TEST(Engines, AreTheSameOnEitherClock) {
    VirtualEngines virtually;
    const Course simulated = course(virtually.engines);
    EXPECT_GT(virtually.driver().now(), 42 * 0.01);
    EXPECT_EQ(simulated.tokens.size(), 43u);
    for (const drive::Pace pace : {drive::Pace::real, drive::Pace::steady}) {
        MemoryRecorder recorder;
        drive::ProcessOptions options;
        options.pace = pace;
        drive::ProcessDriver driver({engine_role(served_hashes().model)}, options, recorder);
        Engines engines(driver);
        const Course made = course(engines);
        EXPECT_EQ(made.tokens, simulated.tokens);
        EXPECT_EQ(made.versions, simulated.versions);
    }
}

TEST(Engines, VirtualStepsTakeWhatIsModelled) {
    VirtualEngines all;
    Pool& pool = all.engines.pool();
    EngineClient& engine = all.engines.start(settings());
    const auto serve = [&] {
        pool.ask({.request = {.prompt = {1}, .max_tokens = 20}});
        EXPECT_TRUE(all.engines.hear_until([&] { return pool.open() == 0; }));
    };
    serve();
    // Until it is there, loaded, and heard; until it hears, works, and is heard.
    EXPECT_NEAR(all.driver().now(), 0.05 + 0.001 + 0.001 + 20 * 0.01 + 0.001, 1e-9);
    EXPECT_EQ(engine.heard_s(), all.driver().now());
    EXPECT_NEAR(engine.step_seconds(), 20 * 0.01, 1e-9);
    all.strike(engine, {.kind = FaultKind::slow, .factor = 3});
    const double begun_s = all.driver().now();
    serve();
    EXPECT_NEAR(all.driver().now() - begun_s, 0.002 + 20 * 0.03, 1e-9);
}

TEST(Engines, WaitingForWhatCannotComeEnds) {
    VirtualEngines all;
    Pool& pool = all.engines.pool();
    EngineClient& paused = all.engines.start(settings());
    EngineClient& killed = all.engines.start(settings());
    for (EngineClient* const engine : {&paused, &killed}) engine->wait_until_ready();
    for (int i = 0; i < 2; ++i) pool.ask({.request = {.prompt = {1}, .max_tokens = 20}});
    paused.pause();
    EXPECT_FALSE(all.engines.hear_until([&] { return pool.open() == 0; }));
    EXPECT_EQ(pool.open(), 1u);
    const Number another = pool.ask({.request = {.prompt = {1}, .max_tokens = 20}});
    EXPECT_TRUE(all.engines.hear_until([&] { return !pool.tokens(another).empty(); }));
    all.strike(killed, {.kind = FaultKind::kill});
    EXPECT_TRUE(all.engines.hear_until([&] { return killed.lost(); }));
    EXPECT_EQ(killed.how_lost(), "killed");
    EXPECT_EQ(pool.with(paused.seat()).size(), 2u);
    paused.go_on();
    all.strike(paused, {.kind = FaultKind::hang});
    EXPECT_TRUE(all.engines.hear_until([&] { return paused.lost(); }));
    EXPECT_EQ(paused.how_lost(), "frozen");
    EXPECT_FALSE(all.engines.hear_until([&] { return pool.open() == 0; }));
    EXPECT_EQ(pool.pending(), 2u);
    EXPECT_THROW(paused.status(), EngineLost);

    VirtualEngines dumb;
    EngineClient& engine = dumb.engines.start(settings());
    engine.wait_until_ready();
    dumb.driver().dismiss(engine.worker());  // it goes home, and nothing is heard of that
    EXPECT_THROW(engine.status(), std::logic_error);
}

// Keys and values go slowly from one engine to the other, and something happens to them.
TEST(Engines, ACacheThatIsLostOnItsWayIsComputedAnew) {
    enum class Lost { nothing, sender, receiver, bytes, request, unheard };
    std::vector<Token> expected;
    for (const Lost lost :
         {Lost::nothing, Lost::sender, Lost::receiver, Lost::bytes, Lost::request, Lost::unheard}) {
        SCOPED_TRACE(static_cast<int>(lost));
        VirtualEngines all({}, {.send_bytes_s = 1e4});
        Pool& pool = all.engines.pool();
        EngineClient& from = all.engines.start(settings());
        EngineClient& to = all.engines.start(settings());
        EXPECT_TRUE(all.engines.hear_until([&] { return from.ready() && to.ready(); }));
        BatchRequest request{.max_tokens = 20};
        for (int i = 0; i < 40; ++i) request.prompt.push_back(i);
        const Number moved = pool.ask({.request = request});
        EXPECT_TRUE(all.engines.hear_until([&] { return pool.tokens(moved).size() >= 5; }));
        pool.move(moved, to.seat(), true);
        EXPECT_TRUE(all.engines.hear_until([&] { return all.engines.states_between() == 1; }));
        if (lost == Lost::unheard) all.strike(from, {.kind = FaultKind::kill});
        EXPECT_FALSE(all.engines.hear_until([&] { return pool.over(moved); }, 0.02));
        if (lost == Lost::sender) all.strike(from, {.kind = FaultKind::kill});
        if (lost == Lost::receiver) all.strike(to, {.kind = FaultKind::kill});
        if (lost == Lost::bytes) all.strike(from, {.kind = FaultKind::corrupt});
        if (lost == Lost::request) pool.cancel(moved);
        EXPECT_TRUE(all.engines.hear_until([&] { return pool.over(moved); }));
        all.engines.go_on();
        EXPECT_EQ(all.engines.states_between(), 0u);
        EXPECT_TRUE(to.refusals().empty());
        const std::span<const Token> tokens = pool.tokens(moved);
        if (lost == Lost::nothing) {
            expected.assign(tokens.begin(), tokens.end());
            EXPECT_LT(to.status().stats.computed_tokens, 20);
        } else if (lost == Lost::request) {
            EXPECT_LT(tokens.size(), expected.size());
            EXPECT_EQ(to.status().stats.computed_tokens, 0);
        } else {
            EXPECT_TRUE(std::ranges::equal(tokens, expected));
            EXPECT_EQ(pool.runs(moved).back().seat,
                      lost == Lost::receiver ? from.seat() : to.seat());
        }
        for (EngineClient* const engine : {&from, &to}) {
            if (engine->lost()) continue;
            engine->empty_cache();
            EXPECT_EQ(engine->status().stats.held_blocks, 0);
        }
    }
}

// A new request is asked for, and the engine asked how it is, inside what is told.
TEST(Engines, WhoIsToldOfARequestMayAskAndWait) {
    VirtualEngines all;
    Pool& pool = all.engines.pool();
    EngineClient& engine = all.engines.start(settings());
    std::vector<Number> over;
    std::map<Number, std::size_t> told;
    all.engines.hear_requests({.tokens =
                                   [&](Number request, std::span<const Token> tokens) {
                                       EXPECT_EQ(tokens[0], pool.tokens(request)[told[request]]);
                                       told[request] += tokens.size();
                                       if (told[request] == 2) engine.status();
                                   },
                               .done =
                                   [&](const Done& done) {
                                       over.push_back(done.request);
                                       if (done.request < 2)
                                           pool.ask({.request = {.prompt = {7}, .max_tokens = 4}});
                                       engine.status();
                                   }});
    for (int i = 0; i < 2; ++i) pool.ask({.request = {.prompt = {1, i}, .max_tokens = 4}});
    EXPECT_TRUE(all.engines.hear_until([&] { return over.size() == 4; }));
    EXPECT_THAT(over, testing::UnorderedElementsAre(0, 1, 2, 3));
    for (const Number each : over) EXPECT_EQ(told[each], pool.tokens(each).size());
}

// What was given to an engine because another request ended may be unwanted once that end is told.
TEST(Engines, WhoIsToldOfAnEndMayCancelWhatIsNext) {
    VirtualEngines all;
    Pool& pool = all.engines.pool();
    EngineSettings one_at_a_time = settings();
    one_at_a_time.options.max_requests = 1;
    EngineClient& engine = all.engines.start(one_at_a_time);
    const Number first = pool.ask({.request = {.prompt = {1}, .max_tokens = 4}});
    const Number second = pool.ask({.request = {.prompt = {2}, .max_tokens = 4}});
    all.engines.hear_requests({.tokens = {}, .done = [&](const Done& done) {
                                   if (done.request != first) return;
                                   EXPECT_EQ(pool.seat(second), engine.seat());
                                   pool.cancel(second);
                                   pool.forget(second);
                               }});
    EXPECT_TRUE(all.engines.hear_until([&] { return pool.open() == 0; }));
    all.engines.go_on();
    EXPECT_EQ(engine.status().stats.waiting + engine.status().stats.running, 0);
    EXPECT_TRUE(engine.refusals().empty());
}

TEST(Engines, WhoLeavesGetsNoMoreRequests) {
    VirtualEngines all;
    Pool& pool = all.engines.pool();
    EngineClient& leaves = all.engines.start(settings());
    EngineClient& stays = all.engines.start(settings());
    EXPECT_TRUE(all.engines.hear_until([&] { return leaves.ready() && stays.ready(); }));
    leaves.leave();
    const Number number =
        pool.ask({.request = {.prompt = {1}, .max_tokens = 4}, .loss = Loss::drop});
    EXPECT_TRUE(all.engines.hear_until([&] { return pool.over(number); }));
    EXPECT_EQ(pool.tokens(number).size(), 4u);
    EXPECT_EQ(pool.runs(number).front().seat, stays.seat());
}

TEST(Engines, WhatIsNotTheirsIsHandedOn) {
    VirtualEngines all({{.name = "other", .protocol = [](drive::Worker& me) -> drive::Protocol {
                             me.say(service::Taken{7});
                             co_await me.receive();
                         }}});
    std::vector<std::size_t> heard;
    all.engines.listen([&](const drive::DriverEvent& event) { heard.push_back(event.index()); });
    const drive::WorkerId other = all.driver().spawn({.role = "other"});
    EngineClient& engine = all.engines.start(settings());
    EXPECT_TRUE(all.engines.hear_until([&] { return engine.ready(); }));
    all.driver().start(drive::StartTimer{3, 1});
    all.strike(engine, {.kind = FaultKind::kill});
    all.driver().strike({.kind = FaultKind::kill, .rank = other});
    EXPECT_TRUE(all.engines.hear_until([&] { return engine.lost(); }));
    while (all.engines.hear()) {
    }
    const auto index = [](const drive::DriverEvent& event) { return event.index(); };
    EXPECT_THAT(heard, testing::ElementsAre(index(drive::Joined{}), index(drive::Said{}),
                                            index(drive::Died{}), index(drive::Idle{}),
                                            index(drive::Timer{})));
}

}  // namespace
}  // namespace assay::decode
