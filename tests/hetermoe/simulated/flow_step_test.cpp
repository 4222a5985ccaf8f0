// Steps whose exchanges are flows, against the arithmetic that gives each a link to itself.
#include "impls/hetermoe/simulated/flow_step.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "impls/hetermoe/experiments/paper_experiment.hpp"
#include "impls/hetermoe/simulated/arms.hpp"
#include "tests/drive/simgrid/own_process.hpp"

namespace assay::hetermoe {
namespace {

using testing::in_own_process;

class FlowSteps : public ::testing::Test {
  protected:
    void SetUp() override {
        setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1);
        if (const auto lacks = drive::flow_engine_lacks()) GTEST_SKIP() << *lacks;
    }

    /// Tokens per second with flows over those by the timeline.
    static std::vector<double> against_timeline(const Point& point, std::vector<Arm> arms) {
        return in_own_process([&] {
            Point with_flows = point;
            with_flows.flows = std::make_shared<drive::RankFlows>(
                Topology(point.network), point.new_gpus.gpus + point.old_gpus.gpus);
            std::vector<double> ratios;
            for (const Arm arm : arms)
                ratios.push_back(run_arm(with_flows, arm).value().tokens_per_s /
                                 run_arm(point, arm).value().tokens_per_s);
            return ratios;
        });
    }
    // Fewer flows.
    static Point third_of(const char* panel, Calibration calibration) {
        Point point = at(panel, calibration);
        for (int* whole : {&point.new_gpus.gpus, &point.old_gpus.gpus, &point.model.experts})
            *whole /= 3;
        return point;
    }
    static Point at(const char* panel, Calibration calibration) {
        Point point = panel_point(panel);
        point.tokens = 8192;
        point.batch = 4;
        point.calibration = calibration;
        // The closed forms scale a message's latency with its bytes.
        point.network.link_latency_s.value = 0;
        return point;
    }
};

TEST_F(FlowSteps, GroupsWithoutMovedExpertsAreAsTheirTimeline) {
    for (const char* panel : {"d1-o1", "w2-o2", "d2-o3", "d1-c1"})
        for (const double ratio : against_timeline(at(panel, Calibration::sheet), {Arm::zebra}))
            EXPECT_NEAR(ratio, 1, 1e-6) << panel;
}

TEST_F(FlowSteps, EverythingIsWhereLinksAreFree) {
    Point point = at("d1-o1", Calibration::sheet);
    point.network.link_bandwidth.value = 1e18;
    for (const double ratio : against_timeline(
             point, {Arm::zebra, Arm::hetermoe, Arm::search, Arm::ep, Arm::dist_ep, Arm::ep_ideal}))
        EXPECT_NEAR(ratio, 1, 1e-3);  // pieces cost launches, of which flows may take none
}

// Flows have as many pieces forward as backward.
TEST_F(FlowSteps, PiecesAreAsTheirScheduleWhereExpertsTakeLonger) {
    for (const char* panel : {"d1-o1", "d2-o3"})
        for (const double ratio : against_timeline(third_of(panel, Calibration::anchored),
                                                   {Arm::ep, Arm::dist_ep, Arm::ep_ideal}))
            EXPECT_NEAR(ratio, 1, 2e-3) << panel;
}

// A dispatch and a combine of expert parallelism that overlap have the link in turns, as flows both
// have half of it.
TEST_F(FlowSteps, PiecesThatOverlapShareLinks) {
    for (const double slower : {1, 2, 4, 16}) {
        Point point = third_of("d1-o1", Calibration::sheet);
        point.network.link_bandwidth.value /= slower;
        for (const double ratio : against_timeline(point, {Arm::ep, Arm::ep_ideal}))
            EXPECT_NEAR(ratio, 1, 0.02) << slower;
    }
}

TEST_F(FlowSteps, JobsKeepTheirOrderAndShareLinks) {
    const std::vector<double> seconds = in_own_process([] {
        Point point = at("d1-o1", Calibration::sheet);
        point.network.link_bandwidth.value = 1e9;
        point.network.link_efficiency.value = 1;
        const auto flows = std::make_shared<drive::RankFlows>(Topology(point.network), 4);
        const auto all = [&](std::vector<FlowJob> jobs) { return run_jobs(flows, jobs); };
        const FlowJob work{.queue = 0, .work = {{0, 1}, {1, 3}}};
        const FlowJob second{.queue = 0, .work = {{0, 2}}};
        const FlowJob other{.queue = 1, .work = {{2, 2}}};
        const FlowJob after{.queue = 1, .after = {0}, .work = {{2, 2}}};
        const FlowJob one{.queue = 1, .flows = {{0, 1, 1e9}}};
        const FlowJob shares{.queue = 2, .flows = {{2, 1, 1e9}}};
        return std::vector{all({work, second}), all({work, other}), all({work, after}), all({one}),
                           all({one, shares})};
    });
    const std::vector<double> wanted{5, 3, 5, 1, 2};
    ASSERT_EQ(seconds.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(seconds[i], wanted[i], 1e-6) << i;
}

TEST_F(FlowSteps, AnArmWithoutThemSaysSo) {
    EXPECT_FALSE(has_flows_version(Arm::pp));
    EXPECT_THROW(in_own_process([] {
                     Point point = at("d1-o1", Calibration::sheet);
                     point.flows = std::make_shared<drive::RankFlows>(Topology(point.network), 12);
                     run_arm(point, Arm::balance);
                     return std::vector<double>{};
                 }),
                 std::runtime_error);
}

}  // namespace
}  // namespace assay::hetermoe
