// What sets systems apart: each layout's answers to what the controller asks, the list of systems,
// and the controller under the strategies that the rivals' tests do not have.
#include "impls/lazarus/policy/controller/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "suite/base/error.hpp"
#include "tests/lazarus/policy/controller_script.hpp"

namespace assay::lazarus {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ControllerConfig gpt_l(Layout layout) {
    ControllerConfig job;
    job.layers = 4;
    job.experts = 16;
    job.slots = 6;
    job.group = 4;
    job.layout = layout;
    job.initial_workers = 10;
    job.steps = 1000;
    return job;
}

std::vector<Loads> random_loads(std::mt19937_64& random, const ControllerConfig& job) {
    std::vector<Loads> loads = uniform_loads(job.layers, job.experts);
    for (Loads& layer : loads)
        for (Tokens& load : layer) load = 1 + static_cast<Tokens>(random() % 10 * (random() % 100));
    return loads;
}

ModelPlacement nothing(const ControllerConfig& job, int nodes) {
    return ModelPlacement(static_cast<std::size_t>(job.layers),
                          Placement(static_cast<std::size_t>(nodes)));
}

/// Takes out the nodes of `dead` and adds as many that hold nothing as `joined`.
ModelPlacement after(ModelPlacement held, const std::set<int>& dead, int joined) {
    for (Placement& layer : held) {
        Placement left;
        for (std::size_t node = 0; node < layer.size(); ++node)
            if (!dead.count(static_cast<int>(node))) left.push_back(layer[node]);
        left.resize(left.size() + static_cast<std::size_t>(joined));
        layer = std::move(left);
    }
    return held;
}

TEST(Strategies, AnswerWhatTheLayoutsMean) {
    for (const Layout layout : {Layout::flexible, Layout::flexible_joint, Layout::eplb}) {
        auto job = gpt_l(layout);
        job.rebalance_every = 3;
        const auto strategy = make_strategy(job);
        EXPECT_EQ(strategy->usable(2), 0) << "12 slots for 16 experts";
        EXPECT_EQ(strategy->usable(7), 7);
        EXPECT_THAT(strategy->too_few(2), HasSubstr("2 workers with 6 slots each cannot hold"));
        EXPECT_THAT(strategy->surplus(nothing(job, 7)), IsEmpty());
        EXPECT_FALSE(strategy->rebalances_after(2));
        EXPECT_TRUE(strategy->rebalances_after(3));
        EXPECT_FALSE(strategy->restarts());
    }
    auto job = gpt_l(Layout::groups);
    job.rebalance_every = 3;
    job.recovery = Recovery::restart;
    const auto strategy = make_strategy(job);
    EXPECT_EQ(strategy->usable(3), 0);
    EXPECT_EQ(strategy->usable(7), 4);
    EXPECT_EQ(strategy->surplus(nothing(job, 7)), (std::vector<int>{4, 5, 6}));
    EXPECT_FALSE(strategy->rebalances_after(3)) << "there is nothing to balance";
    EXPECT_TRUE(strategy->restarts() && strategy->surplus_stays());
    job.recovery = Recovery::peers;
    EXPECT_FALSE(make_strategy(job)->surplus_stays()) << "section 6.1, of DS(FT)";
    job.surplus_waits = true;
    EXPECT_TRUE(make_strategy(job)->surplus_stays());
}

// Whatever the strategy, every plan is one that the controller may announce.
TEST(Strategies, PlansFillEverySlotAndLeaveOutNoExpert) {
    std::mt19937_64 random(5);
    for (const CompetingSystem& system : competing_systems()) {
        auto job = gpt_l(system.layout);
        set_system(job, system);
        const auto strategy = make_strategy(job);
        ModelPlacement held = nothing(job, 8);
        for (int round = 0; round < 20; ++round) {
            const auto nodes = static_cast<int>(held[0].size());
            ASSERT_EQ(strategy->usable(nodes), nodes);
            const auto holders = strategy->holders(held, random_loads(random, job));
            ASSERT_EQ(holders.size(), held.size());
            const std::size_t slots = system.in_groups() ? 4 : 6;
            for (const Placement& layer : holders) {
                std::set<int> placed;
                for (const auto& node : layer) {
                    EXPECT_EQ(node.size(), slots) << system.name;
                    EXPECT_TRUE(std::is_sorted(node.begin(), node.end())) << system.name;
                    placed.insert(node.begin(), node.end());
                }
                EXPECT_EQ(placed.size(), 16U) << system.name;
            }
            EXPECT_EQ(strategy->holders(held, uniform_loads(4, 16)),
                      make_strategy(job)->holders(held, uniform_loads(4, 16)))
                << "without state";
            // Four go, four or none come: whole groups throughout.
            held = nodes > 8 ? after(holders, {0, 3, 5, 6}, 0) : after(holders, {1}, 5);
        }
    }
}

/// How often so many losses leave every expert of every layer somewhere.
double survival(const ModelPlacement& holders, int experts, std::size_t lost) {
    return recovery_probability(holders, experts).probability.at(lost);
}

// The point of mapping layers together: the cold groups of all layers stay on the same nodes, so
// the model survives what its plan does, whatever came and went before.
TEST(JointStrategy, LayersDoNotDriftApart) {
    std::mt19937_64 random(23);
    const auto job = gpt_l(Layout::flexible_joint);
    const auto together = make_strategy(job), apart = make_strategy(gpt_l(Layout::flexible));
    ModelPlacement joint = nothing(job, 10), alone = joint;
    int drifted = 0;
    for (int round = 0; round < 30; ++round) {
        const auto loads = random_loads(random, job);
        joint = together->holders(joint, loads);
        alone = apart->holders(alone, loads);
        const auto plan = make_model_plan(loads, 10, job.slots, job.min_replicas, job.placement);
        EXPECT_DOUBLE_EQ(survival(joint, 16, 3), survival(plan.placement, 16, 3)) << round;
        drifted += survival(alone, 16, 3) < survival(plan.placement, 16, 3);
        const std::set<int> dead{static_cast<int>(random() % 10)};
        joint = after(joint, dead, 1);
        alone = after(alone, dead, 1);
    }
    EXPECT_GT(drifted, 20) << "layers that are mapped one by one do";
}

// Equal loads: two replicas each, both of them where packing by load puts them: on one node.
TEST(EplbStrategy, DoesNotCareWhatSurvives) {
    auto job = small_job();
    job.layout = Layout::eplb;
    Script script(job);
    script.start();
    EXPECT_EQ(script.plan().holders[0], (Placement{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
    script.die(2);
    EXPECT_THAT(script.plan().why, HasSubstr("lost expert 2 of layer 0"));
}

TEST(EplbStrategy, HasNoFewestReplicas) {
    Script script([] {
        auto job = small_job();
        job.layout = Layout::eplb;
        job.rebalance_every = 1;
        return job;
    }());
    script.start();
    script.step({{1, 1, 1, 1000}});
    ASSERT_NE(script.last<Reconfigure>(), nullptr);
    EXPECT_EQ(script.plan().why, "rebalance");
    EXPECT_EQ(script.holders(0, 0).size(), 1U) << "min_replicas is 2, and means nothing to it";
    script.all_ready();
    script.lose_expert_zero();
    EXPECT_THAT(script.plan().why, HasSubstr("lost expert 0 of layer 0"));
    EXPECT_EQ(script.plan().restore_step, 0);
}

TEST(EplbStrategy, RecoversFromPeersWhereItCan) {
    auto job = small_job();
    job.layout = Layout::eplb;
    job.rebalance_every = 1;
    Script script(job);
    script.start();
    script.step({{8, 8, 8, 40}});  // experts 0 to 2 have one replica, expert 3 has five
    script.all_ready();
    const auto hot = script.holders(0, 3);
    ASSERT_EQ(hot.size(), 4U);
    Worker spare = -1;
    for (Worker worker : hot) {
        bool alone = false;
        for (int cold = 0; cold < 3; ++cold) alone |= script.holders(0, cold).front() == worker;
        if (!alone) spare = worker;
    }
    ASSERT_NE(spare, -1) << "a node that holds expert 3 alone";
    script.die(spare);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().restore_step, std::nullopt);
    EXPECT_EQ(script.plan().resume_step, 1);
}

TEST(CompetingSystems, HaveNamesOfTheirOwnAndSettingsThatAControllerTakes) {
    std::set<std::string> names;
    for (const CompetingSystem& system : competing_systems()) {
        EXPECT_TRUE(names.insert(std::string(system.name)).second) << system.name;
        EXPECT_NE(system.says, "") << system.name;
        EXPECT_NE(system.source, "") << system.name;
        EXPECT_EQ(&competing_system(system.name), &system);
        auto job = gpt_l(Layout::flexible);
        set_system(job, system);
        EXPECT_NO_THROW(Controller{job}) << system.name;
    }
    EXPECT_EQ(competing_systems().front().name, "lazarus");
    try {
        competing_system("deepspeed");
        FAIL();
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no system is called 'deepspeed'; known are lazarus,"));
    }
}

}  // namespace
}  // namespace assay::lazarus
