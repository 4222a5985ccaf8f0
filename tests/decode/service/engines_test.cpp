// Engines on a driver of either clock: the same calls, the same tokens.
#include "impls/decode/service/engines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    explicit VirtualEngines(std::vector<drive::Role> others = {})
        : driver_(roles(std::move(others)), time_, latencies_, {}, recorder_), engines(driver_) {}
    drive::Driver& driver() { return driver_; }
    void strike(const EngineClient& engine, Fault fault) {
        fault.rank = engine.worker();
        driver_.strike(fault);
    }

  private:
    static std::vector<drive::Role> roles(std::vector<drive::Role> roles) {
        roles.push_back(engine_role(served_hashes().model));
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
std::vector<MadeToken> course(Engines& engines) {
    EngineClient& from = engines.start(settings());
    EngineClient& to = engines.start(settings(), "second");
    const RequestId here = from.submit({.prompt = {1, 2, 3}, .max_tokens = 40});
    StepReport report;
    while (report.tokens.size() < 11) from.step(report);
    const auto moved = from.move(here, to, true);
    while (!to.idle()) to.step(report);
    to.load(2, "2");
    EXPECT_TRUE(engines.hear_until([&] { return to.prepared() == 2; }));
    to.commit(BatchEngine::Cache::recompute);
    to.submit({.prompt = {5}, .max_tokens = 3});
    while (!to.idle()) to.step(report);
    to.empty_cache();
    EXPECT_EQ(to.stats().held_blocks, 0);
    for (EngineClient* const engine : {&from, &to}) engine->leave();
    EXPECT_TRUE(engines.hear_until([&] { return from.lost() && to.lost(); }));
    EXPECT_EQ(to.how_lost(), "exit 0");
    EXPECT_TRUE(moved.has_value());
    return report.tokens;
}

TEST(Engines, AreTheSameOnEitherClock) {
    VirtualEngines virtually;
    const auto simulated = course(virtually.engines);
    EXPECT_GT(virtually.driver().now(), 42 * 0.01);
    for (const drive::Pace pace : {drive::Pace::real, drive::Pace::steady}) {
        MemoryRecorder recorder;
        drive::ProcessOptions options;
        options.pace = pace;
        drive::ProcessDriver driver({engine_role(served_hashes().model)}, options, recorder);
        Engines engines(driver);
        const auto made = course(engines);
        ASSERT_EQ(made.size(), simulated.size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            EXPECT_EQ(made[i].id, simulated[i].id);
            EXPECT_EQ(made[i].log_probability, simulated[i].log_probability);
            EXPECT_EQ(made[i].version, simulated[i].version);
        }
    }
}

TEST(Engines, VirtualStepsTakeWhatIsModelled) {
    VirtualEngines all;
    EngineClient& engine = all.engines.start(settings());
    engine.submit({.prompt = {1}, .max_tokens = 20});
    StepReport report;
    while (!engine.idle()) engine.step(report);
    // Until it is there, loaded, and heard; until it hears, works, and is heard.
    EXPECT_NEAR(all.driver().now(), 0.05 + 0.001 + 0.001 + 20 * 0.01 + 0.001, 1e-9);
    EXPECT_EQ(engine.heard_s(), all.driver().now());
    all.strike(engine, {.kind = FaultKind::slow, .factor = 3});
    const double begun_s = all.driver().now();
    engine.submit({.prompt = {2}, .max_tokens = 20});
    while (!engine.idle()) engine.step(report);
    EXPECT_NEAR(all.driver().now() - begun_s, 0.002 + 20 * 0.03, 1e-9);
}

TEST(Engines, WaitingForWhatCannotComeEnds) {
    VirtualEngines all;
    EngineClient& paused = all.engines.start(settings());
    EngineClient& killed = all.engines.start(settings());
    paused.submit({.prompt = {1}, .max_tokens = 20});
    paused.pause();
    EXPECT_FALSE(all.engines.hear_until([] { return false; }));
    StepReport report;
    paused.step(report);  // with nothing
    killed.submit({.prompt = {1}, .max_tokens = 20});
    killed.step(report);
    all.strike(killed, {.kind = FaultKind::kill});
    EXPECT_THROW(for (;;) killed.step(report), EngineLost);
    EXPECT_EQ(killed.how_lost(), "killed");
    EXPECT_EQ(killed.unfinished().size(), 1u);
    paused.go_on();
    all.strike(paused, {.kind = FaultKind::hang});
    EXPECT_THROW(for (;;) paused.step(report), EngineLost);
    EXPECT_EQ(paused.how_lost(), "frozen");

    VirtualEngines dumb;
    EngineClient& engine = dumb.engines.start(settings());
    engine.submit({.prompt = {1}, .max_tokens = 2});
    while (!engine.idle()) engine.step(report);
    dumb.driver().dismiss(engine.worker());  // it goes home, and nothing is heard of that
    EXPECT_THROW(engine.status(), std::logic_error);
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
