// One policy and one worker under the real, the paced and the simulated driver: what happens to
// workers reaches the policy in the same words, and paced and simulated decide the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "suite/drive/processes/role_worker.hpp"
#include "tests/drive/foreman.hpp"

namespace assay::drive {
namespace {

struct Case {
    const char* name;
    const char* faults;
    long deaths = 0, joins = 3, leaves = 0;
    long struck = 1;
};

class Drivers : public testing::TestWithParam<Case> {};

TEST_P(Drivers, DecideTheSame) {
    const auto& one = GetParam();
    const Setting setting{.faults = one.faults};
    const auto emulated = paced(setting), virtually = simulated(setting), really = real(setting);
    for (const Driven* driven : {&emulated, &virtually, &really}) {
        EXPECT_TRUE(driven->course.ok) << driven->course.why;
        EXPECT_TRUE(driven->each_order_once());
        EXPECT_EQ(driven->told<Joined>(), one.joins);
        EXPECT_FALSE(first_difference(Foreman(Plan{}), driven->course.decisions));
    }
    // In real time nothing is held to what is modelled, and orders are done before faults strike.
    for (const Driven* driven : {&emulated, &virtually}) {
        EXPECT_EQ(driven->told<Died>(), one.deaths);
        EXPECT_EQ(driven->told<LeaveRequested>(), one.leaves);
        EXPECT_EQ(driven->course.faults_struck, one.struck);
    }
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
}

INSTANTIATE_TEST_SUITE_P(
    Faults, Drivers,
    testing::Values(Case{"Nothing", "", 0, 3, 0, 0}, Case{"Kill", "kill:rank=1@t=1.5", 1},
                    Case{"Hang", "hang:rank=2@t=1.5", 1},
                    Case{"LongHang", "hang:rank=2@t=1.5,for=3", 1},
                    Case{"ShortHang", "hang:rank=2@t=1.5,for=0.3"},
                    Case{"Leave", "stop:rank=0@t=1.5", 0, 3, 1},
                    // Worker 0 has to know of it when it next begins work (0.5 s, 2.5 s).
                    Case{"Slow", "slow:rank=0,factor=2@t=0.1"},
                    Case{"SlowForAWhile", "slow:rank=0,factor=2@t=0.1,for=2"},
                    Case{"KillAtAStep", "kill:rank=1@step=1", 1},
                    Case{"HangAtAStep", "hang:rank=1@step=1,for=0.3"},
                    Case{"SlowFromAStep", "slow:rank=1,factor=3@step=1"},
                    Case{"TwoKills", "kill:rank=1@t=1.5; kill:rank=0@t=1.9", 2, 3, 0, 2}),
    [](const auto& info) { return info.param.name; });

// Joins come later than the orders of a real run are done.
TEST(Drivers, TellOfNewcomersTogether) {
    for (const char* faults :
         {"join:count=2@t=1.5", "kill:rank=0@t=1.5; join:count=1@t=2.5", "join:count=2@step=1"}) {
        const Setting setting{.faults = faults};
        const auto emulated = paced(setting), virtually = simulated(setting);
        EXPECT_TRUE(emulated.course.ok) << emulated.course.why;
        EXPECT_TRUE(emulated.each_order_once());
        EXPECT_GT(emulated.told<Joined>(), 3);
        EXPECT_EQ(emulated.decisions(), virtually.decisions());
    }
}

TEST(RealDriver, FaultsStrikeWhatReallyWorks) {
    Setting setting{.faults = "kill:rank=1@t=0.4; join:count=1@t=0.6"};
    setting.role.protocol = [](Worker& me) -> Protocol {
        while (const auto message = co_await me.receive()) {
            const auto order = message_to<WorkOrder>(*message);
            co_await me.work(0, [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); });
            me.say(Finished{me.id(), order.number});
        }
    };
    const auto driven = real(setting);
    EXPECT_TRUE(driven.course.ok) << driven.course.why;
    EXPECT_TRUE(driven.each_order_once());
    EXPECT_EQ(driven.told<Died>(), 1);
    EXPECT_EQ(driven.told<Joined>(), 4);
}

TEST(EveryDriver, AWorkerThatThrowsHasDied) {
    const Setting setting{.plan = {.stranger = 1}};
    for (const auto& driven : {real(setting), paced(setting), simulated(setting)}) {
        EXPECT_TRUE(driven.course.ok) << driven.course.why;
        EXPECT_EQ(driven.told<Died>(), 1);
        EXPECT_TRUE(driven.each_order_once());
        for (const auto& event : driven.recorder.events) {
            if (event.kind != "death") continue;
            EXPECT_THAT(event.detail.at("how").get<std::string>(),
                        testing::HasSubstr("cannot be carried out"));
        }
    }
}

TEST(EveryDriver, EvictsAfterATimer) {
    const Setting setting{.plan = {.evict_at_s = 1.5}};
    const auto emulated = paced(setting), virtually = simulated(setting);
    EXPECT_TRUE(emulated.course.ok) << emulated.course.why;
    EXPECT_EQ(emulated.told<Timer>(), 1);
    EXPECT_EQ(emulated.told<Died>(), 1);
    EXPECT_EQ(emulated.events("evict"), 1);
    EXPECT_TRUE(emulated.each_order_once());
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
}

// The policy hears of it only when the modelled cluster would know.
TEST(EveryDriver, EvictsWhoIsDeadAndWasNotToldOf) {
    const Setting setting{.plan = {.evict_at_s = 1.5}, .faults = "kill:rank=0@t=1.3"};
    const auto emulated = paced(setting), virtually = simulated(setting);
    EXPECT_TRUE(emulated.course.ok) << emulated.course.why;
    EXPECT_EQ(emulated.told<Died>(), 1);
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
}

TEST(EveryDriver, SaysWhenNoWorkerIsLeftAndNoneWillCome) {
    const char* all = "kill:rank=0@t=0.5; kill:rank=1@t=0.5; kill:rank=2@t=0.6";
    const Setting setting{.faults = all}, waits{.plan = {.waits_for_ever = true}, .faults = all};
    const auto emulated = paced(setting), virtually = simulated(setting);
    EXPECT_EQ(emulated.course.why, "no worker is left");
    EXPECT_EQ(emulated.told<Idle>(), 1);
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
    for (const auto& driven : {paced(waits), simulated(waits)}) {
        EXPECT_FALSE(driven.course.ok);
        EXPECT_EQ(driven.course.why, "the policy waits for what cannot come");
        EXPECT_EQ(driven.told<Idle>(), 1);
    }
}

TEST(EveryDriver, SpawnsInPlaceOfTheDead) {
    const Setting setting{.plan = {.spawns_again = true},
                          .faults =
                              "kill:rank=0@t=0.5; kill:rank=1@t=0.5; kill:rank=2@t=0.6; "
                              "kill:rank=3@t=1.4"};
    const auto emulated = paced(setting), virtually = simulated(setting);
    EXPECT_TRUE(emulated.course.ok) << emulated.course.why;
    EXPECT_EQ(emulated.told<Died>(), 4);
    EXPECT_EQ(emulated.told<Joined>(), 7);
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
}

TEST(EveryDriver, WhoIsDismissedHasNotDied) {
    const Setting setting{.plan = {.dismisses = true}, .faults = "stop:rank=0@t=0.5"};
    const auto emulated = paced(setting), virtually = simulated(setting);
    EXPECT_TRUE(emulated.course.ok) << emulated.course.why;
    EXPECT_EQ(emulated.told<Died>(), 0);
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
}

// Heartbeats come from a thread of their own, whatever the one that works does.
TEST(EveryDriver, TellsOfAWorkerThatIsStuck) {
    Setting setting{};
    setting.role.progress_s = 4;
    setting.role.protocol = [](Worker& me) -> Protocol {
        while (const auto message = co_await me.receive()) {
            const auto order = message_to<WorkOrder>(*message);
            const bool stuck = me.id() == 1;  // with its first order, whoever is faster
            co_await me.work(stuck ? 1e6 : order.seconds, [stuck] {
                if (stuck) std::this_thread::sleep_for(std::chrono::hours(1));
            });
            me.say(Finished{me.id(), order.number});
        }
    };
    const auto emulated = paced(setting), virtually = simulated(setting), really = real(setting);
    for (const Driven* driven : {&emulated, &virtually, &really}) {
        EXPECT_TRUE(driven->course.ok) << driven->course.why;
        EXPECT_EQ(driven->told<Stalled>(), 1);
        EXPECT_EQ(driven->told<Died>(), 1);
        EXPECT_TRUE(driven->each_order_once());
    }
    EXPECT_EQ(emulated.decisions(), virtually.decisions());
}

// A death is known at once, a hang only when it has lasted too long.
TEST(EveryDriver, WaitsForWhoHangsAsLongAsItsPatience) {
    for (const char* faults : {"hang:rank=2@t=1.5,for=3", "hang:rank=2@t=1.5,for=0.6",
                               "kill:rank=1@t=1.5", "hang:rank=2@t=1.5,for=3; kill:rank=1@t=1.7"}) {
        const Setting setting{.faults = faults};
        Driven virtually, emulated;
        EventQueue time;
        ConstantLatencies latencies(0, 0.1, boot_s, 0.7);
        VirtualCluster cluster({setting.role}, time, latencies,
                               {.faults = parse_fault_plan(setting.faults)}, virtually.recorder);
        course_of(virtually, setting, cluster);
        ProcessOptions options;
        options.faults = parse_fault_plan(setting.faults);
        options.pace = Pace::steady;
        options.speed = 10;
        options.detect_s = 0.1;
        options.patience_s = 0.7;
        options.boot_s = boot_s;
        ProcessDriver driver({setting.role}, options, emulated.recorder);
        course_of(emulated, setting, driver);
        EXPECT_TRUE(emulated.course.ok) << emulated.course.why;
        EXPECT_EQ(emulated.decisions(), virtually.decisions());
        for (const auto& one : virtually.course.decisions)
            if (const auto* died = std::get_if<Died>(&one.event))
                EXPECT_NEAR(one.now_s,
                            died->worker == 2                      ? 2.2
                            : std::string(faults).ends_with("1.7") ? 1.8
                                                                   : 1.6,
                            1e-9);
    }
}

TEST(ProcessDriver, AWorkerThatDiesBeforeItJoinsHoldsNothingUp) {
    for (const Pace pace : {Pace::real, Pace::steady}) {
        const Setting setting{};
        Driven driven;
        ProcessOptions options;
        options.pace = pace;
        options.speed = 10;
        options.detect_s = detect_s;
        const auto ordinary = process_of({setting.role});
        ProcessDriver driver({setting.role},
                             cluster::make_fork_server([ordinary](cluster::WorkerId self,
                                                                  cluster::ControlChannel& control,
                                                                  const nlohmann::json& config) {
                                 if (self == 1) throw std::runtime_error("it cannot be set up");
                                 return ordinary(self, control, config);
                             }),
                             options, driven.recorder);
        course_of(driven, setting, driver);
        EXPECT_TRUE(driven.course.ok) << driven.course.why;
        EXPECT_EQ(driven.told<Died>(), 1);
        EXPECT_EQ(driven.told<Joined>(), 2);
        EXPECT_TRUE(driven.each_order_once());
    }
}

TEST(EveryDriver, APolicyThatAllWorkersWaitForEnds) {
    Setting setting{};
    setting.role.protocol = [](Worker& me) -> Protocol {  // never says that it has finished
        while (co_await me.receive()) co_await me.work(0.1);
    };
    for (const auto& driven : {real(setting), paced(setting), simulated(setting)}) {
        EXPECT_FALSE(driven.course.ok);
        EXPECT_THAT(driven.course.why, testing::HasSubstr("nothing can happen any more"));
        EXPECT_EQ(driven.told<Idle>(), 0);
    }
}

TEST(SimulatedDriver, IsAFunctionOfItsInputs) {
    const Setting setting{.faults =
                              "kill:rank=1@t=1.5; join:count=2@t=1.5; slow:rank=0,factor=2@t=0.47"};
    const auto once = simulated(setting), again = simulated(setting);
    EXPECT_EQ(once.decisions(), again.decisions());
    EXPECT_EQ(once.course.decisions, again.course.decisions);
}

}  // namespace
}  // namespace assay::drive
