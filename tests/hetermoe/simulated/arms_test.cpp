// The arms of the paper's figures: what must hold between them whatever the numbers are, and the
// specification's acceptance checks 5 to 9.
#include "impls/hetermoe/simulated/arms.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "impls/hetermoe/experiments/paper_experiment.hpp"
#include "impls/hetermoe/simulated/pipelines.hpp"

namespace assay::hetermoe {
namespace {

class HetermoeArms : public ::testing::Test {
  protected:
    HetermoeArms() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }

    static Point at(const std::string& panel, double k, Calibration calibration, int batch = 4) {
        Point point = panel_point(panel);
        point.tokens = 1024 * k;
        point.calibration = calibration;
        point.batch = batch;
        return point;
    }
    static double rate(const Point& point, const char* arm) {
        return run_arm(point, arm).value().tokens_per_s;
    }
    static constexpr Calibration both[] = {Calibration::sheet, Calibration::anchored};
};

TEST_F(HetermoeArms, StandInTheOrderThatTheirFreedomsSay) {
    for (const Calibration calibration : both) {
        for (const char* panel : {"d1-o1", "w1-o1", "w2-o2", "d2-o3", "d1-c1", "d3-c2"}) {
            for (const double k : {4, 16, 32}) {
                const Point point = at(panel, k, calibration);
                SCOPED_TRACE(std::string(panel) + " " + std::to_string(k));
                // V100s alone have no room for W2 with long sequences.
                const auto no_room = [&](std::string_view arm) {
                    return arm == "pp" ||
                           (arm == "ep_ideal" && std::string_view(panel) == "w2-o2" && k > 24);
                };
                for (const std::string_view arm : arms)
                    ASSERT_TRUE(no_room(arm) || run_arm(point, arm)) << arm;
                if (!no_room("ep_ideal")) {
                    EXPECT_GE(rate(point, "ep_ideal"),
                              rate(point, "ep") * (1 - 1e-9));  // fewer rows travel
                }
                EXPECT_GE(rate(point, "search"), rate(point, "hetermoe") * (1 - 1e-9));
                EXPECT_GE(rate(point, "search"), rate(point, "zebra") * (1 - 1e-9));
                EXPECT_LE(run_arm(point, "hetermoe")->new_busy.value(), 1);
                EXPECT_LE(run_arm(point, "zebra")->old_busy.value(), 1);
            }
        }
    }
}

TEST_F(HetermoeArms, MovingExpertsGainsLessTheLongerSequencesAre) {
    double before = 1e9;
    for (const double k : {4, 8, 12, 16, 20, 24, 32}) {
        const Point point = at("d1-o1", k, Calibration::anchored);
        const double gain = rate(point, "hetermoe") / rate(point, "zebra");
        EXPECT_LE(gain, before + 1e-9) << k;
        if (k > crossing_k(point)) {
            EXPECT_DOUBLE_EQ(gain, 1) << k;
        }
        before = gain;
    }
    EXPECT_NEAR(crossing_k(at("d1-o1", 4, Calibration::anchored)), 20.36, 0.01);  // 0.629 / 0.0309
}

TEST_F(HetermoeArms, SplittingKeepsBothKindsBusierThanTakingTurns) {
    for (const Calibration calibration : both) {
        for (const double k : {8, 16}) {
            const Point point = at("d1-o1", k, calibration);
            const ArmResult zebra = *run_arm(point, "zebra"), turns = *run_arm(point, "dist_ep");
            EXPECT_GT(zebra.new_busy, turns.new_busy) << k;
            EXPECT_GT(zebra.old_busy, turns.old_busy) << k;
        }
    }
}

TEST_F(HetermoeArms, GainOverExpertParallelismRisesWithTheSequence) {
    double before = 0;
    for (const double k : {4, 8, 16, 32}) {
        const Point point = at("d1-o1", k, Calibration::anchored);
        const double gain = rate(point, "hetermoe") / rate(point, "ep");
        EXPECT_GT(gain, before) << k;
        before = gain;
    }
}

TEST_F(HetermoeArms, FourToThreeLosesAndItsNeighboursDoNot) {
    const auto gain = [](int old_gpus) {
        ModelShape model = model_shape("d1");
        model.experts = 4 * old_gpus;
        Point point = point_on(model, "hetermoe-on-premise", "a40", 4, "v100", old_gpus);
        point.tokens = 4096;
        point.batch = 8;
        point.calibration = Calibration::anchored;
        return rate(point, "hetermoe") / rate(point, "ep_ideal");
    };
    EXPECT_LT(gain(3), 0.9);
    EXPECT_GT(gain(2), gain(3));
    EXPECT_GT(gain(4), 1);
}

TEST_F(HetermoeArms, SharesBySpeedAreBestWhereKindsDifferAndExchangesAreFree) {
    Point point = at("d1-o1", 16, Calibration::sheet);
    point.network.link_bandwidth.value = 1e18;
    point.network.link_latency_s.value = 0;
    EXPECT_GE(rate(point, "ep_uneven"), rate(point, "ep_ideal") * 0.999);
    EXPECT_GT(rate(point, "ep_uneven"), rate(point, "ep") * 1.01);
}

TEST_F(HetermoeArms, APipelineNeedsRoomForAllExpertsOfItsLayers) {
    // A layer of W2 has 24 experts of 44 million parameters: 17 GB with their states.
    EXPECT_FALSE(pipelines_step_s(at("w2-o2", 4, Calibration::sheet)));
    EXPECT_TRUE(pipelines_step_s(at("d1-o1", 4, Calibration::sheet)));
    Point roomy = at("w2-o2", 4, Calibration::sheet);
    roomy.old_gpus.device.memory_bytes.value = 1e12;
    EXPECT_TRUE(pipelines_step_s(roomy));
    // Equal GPUs, two stages of four layers, free head: forward and backward of 4 layers pass
    // micro-batches + 1 times.
    Point equal = at("d1-o1", 4, Calibration::anchored);
    equal.old_gpus = equal.new_gpus;
    const GpuSeconds seconds = times_of(equal, 1).of_new;
    EXPECT_NEAR(*pipelines_step_s(equal), 4 * 4 * (seconds.attention + seconds.expert) * (4 + 1),
                1e-9);
}

TEST_F(HetermoeArms, NoneFitsIntoNoMemory) {
    for (const bool old : {false, true}) {
        Point small = at("d1-o1", 16, Calibration::anchored);
        (old ? small.old_gpus : small.new_gpus).device.memory_bytes.value = 1e9;
        for (const char* arm : {"ep", "ep_ideal", "dist_ep", "ep_uneven"})
            EXPECT_FALSE(run_arm(small, arm)) << arm << old;
        small.new_gpus.device.memory_bytes.value = small.old_gpus.device.memory_bytes.value = 1e9;
        for (const std::string_view arm : arms) EXPECT_FALSE(run_arm(small, arm)) << arm;
    }
    // Experts of one kind alone, 17 GB of states a layer, need all GPUs.
    Point lone = at("w2-o2", 4, Calibration::sheet);
    lone.old_gpus.gpus = 2;
    EXPECT_FALSE(run_arm(lone, "ep_ideal"));
}

TEST_F(HetermoeArms, NobodyWaitsForMoreThanAllExchanges) {
    for (const Calibration calibration : both) {
        const Point point = at("d1-o1", 16, calibration);
        const PointTimes times = times_of(point, 1);
        const double share =
            exposed_share(point, times.exchange_s, times.of_old.expert, times.piece_s);
        EXPECT_GT(share, 0);
        EXPECT_LE(share, 1);
    }
    EXPECT_DOUBLE_EQ(travelling(4), 0.75);
}

TEST_F(HetermoeArms, SayWhatTheyWereFittedFrom) {
    EXPECT_FALSE(calibration_json(at("d1-o1", 4, Calibration::sheet)).contains("fitted_from"));
    EXPECT_TRUE(calibration_json(at("d1-o1", 4, Calibration::anchored)).contains("fitted_from"));
    EXPECT_THROW(parse_calibration("guessed"), UserError);
    EXPECT_THROW(run_arm(at("d1-o1", 4, Calibration::sheet), "x"), UserError);
    Point other = at("d1-o1", 4, Calibration::anchored);
    other.new_gpus.device = device_profile("h100");
    other.new_gpus.device.attention = AttentionCapability{};
    EXPECT_THROW(run_arm(other, "ep"), UserError);
}

}  // namespace
}  // namespace assay::hetermoe
