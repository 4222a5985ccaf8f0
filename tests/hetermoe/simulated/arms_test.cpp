// The arms of the paper's figures: what must hold between them whatever the numbers are, and the
// specification's acceptance checks 5 to 9.
#include "impls/hetermoe/simulated/arms.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

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
    static double rate(const Point& point, Arm arm) {
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
                const auto no_room = [&](Arm arm) {
                    return arm == Arm::pp ||
                           (arm == Arm::ep_ideal && std::string_view(panel) == "w2-o2" && k > 24);
                };
                for (const Arm arm : values_of<Arm>)
                    ASSERT_TRUE(no_room(arm) || run_arm(point, arm)) << to_string(arm);
                if (!no_room(Arm::ep_ideal)) {
                    EXPECT_GE(rate(point, Arm::ep_ideal),
                              rate(point, Arm::ep) * (1 - 1e-9));  // fewer rows travel
                }
                EXPECT_GE(rate(point, Arm::search), rate(point, Arm::hetermoe) * (1 - 1e-9));
                EXPECT_GE(rate(point, Arm::search), rate(point, Arm::zebra) * (1 - 1e-9));
                EXPECT_LE(run_arm(point, Arm::hetermoe)->new_busy.value(), 1);
                EXPECT_LE(run_arm(point, Arm::zebra)->old_busy.value(), 1);
            }
        }
    }
}

TEST_F(HetermoeArms, MovingExpertsGainsLessTheLongerSequencesAre) {
    double before = 1e9;
    for (const double k : {4, 8, 12, 16, 20, 24, 32}) {
        const Point point = at("d1-o1", k, Calibration::anchored);
        const double gain = rate(point, Arm::hetermoe) / rate(point, Arm::zebra);
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
            const ArmResult zebra = *run_arm(point, Arm::zebra),
                            turns = *run_arm(point, Arm::dist_ep);
            EXPECT_GT(zebra.new_busy, turns.new_busy) << k;
            EXPECT_GT(zebra.old_busy, turns.old_busy) << k;
        }
    }
}

TEST_F(HetermoeArms, GainOverExpertParallelismRisesWithTheSequence) {
    double before = 0;
    for (const double k : {4, 8, 16, 32}) {
        const Point point = at("d1-o1", k, Calibration::anchored);
        const double gain = rate(point, Arm::hetermoe) / rate(point, Arm::ep);
        EXPECT_GT(gain, before) << k;
        before = gain;
    }
}

TEST_F(HetermoeArms, FourToThreeLosesMoreThanItsNeighbours) {
    const auto gain = [](int old_gpus) {
        ModelShape model = model_shape("d1");
        model.experts = 4 * old_gpus;
        Point point = point_on(model, "hetermoe-on-premise", "a40", 4, "v100", old_gpus);
        point.tokens = 4096;
        point.batch = 8;
        point.calibration = Calibration::anchored;
        return rate(point, Arm::hetermoe) / rate(point, Arm::ep_ideal);
    };
    // Check 9 also wants that its neighbours do not lose to both kinds apart. They do, since those
    // overlap their exchanges with their experts (README.md, what we found).
    EXPECT_LT(gain(3), 0.9);
    EXPECT_GT(gain(2), 1.2 * gain(3));
    EXPECT_GT(gain(4), 1.2 * gain(3));
}

TEST_F(HetermoeArms, SharesBySpeedAreBestWhereKindsDifferAndExchangesAreFree) {
    Point point = at("d1-o1", 16, Calibration::sheet);
    point.network.link_bandwidth.value = 1e18;
    point.network.link_latency_s.value = 0;
    EXPECT_GE(rate(point, Arm::ep_uneven), rate(point, Arm::ep_ideal) * 0.999);
    EXPECT_GT(rate(point, Arm::ep_uneven), rate(point, Arm::ep) * 1.01);
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
        for (const Arm arm : {Arm::ep, Arm::ep_ideal, Arm::dist_ep, Arm::ep_uneven})
            EXPECT_FALSE(run_arm(small, arm)) << to_string(arm) << old;
        small.new_gpus.device.memory_bytes.value = small.old_gpus.device.memory_bytes.value = 1e9;
        for (const Arm arm : values_of<Arm>) EXPECT_FALSE(run_arm(small, arm)) << to_string(arm);
    }
    // Experts of one kind alone, 17 GB of states a layer, need all GPUs.
    Point lone = at("w2-o2", 4, Calibration::sheet);
    lone.old_gpus.gpus = 2;
    EXPECT_FALSE(run_arm(lone, Arm::ep_ideal));
}

// A step is between what its GPUs compute and links carry and one phase after the other, at most
// three quarters of the exchanges of which are waited for, at either calibration.
TEST_F(HetermoeArms, ExpertParallelismOverlapsItsExchangesWithItsExperts) {
    for (const Calibration calibration : both) {
        for (const double k : {4, 16, 32}) {
            const Point point = at("d1-o1", k, calibration);
            const int gpus = point.new_gpus.gpus + point.old_gpus.gpus;
            const PointTimes times = times_of(point, point.sequences() / gpus);
            const double passes = 1 + backward_over_forward, layers = point.model.layers;
            const double attention = std::max(times.of_new.attention, times.of_old.attention),
                         expert = std::max(times.of_new.expert, times.of_old.expert),
                         head = std::max(times.of_new.head, times.of_old.head),
                         exchange = times.exchange_s * travelling(gpus);
            const double compute = passes * (layers * (attention + expert) + head),
                         in_turn = compute + 4 * layers * exchange,
                         step = point.sequences() * point.tokens / rate(point, Arm::ep);
            const double busiest = std::max(expert, 2 * exchange) +
                                   std::max(backward_over_forward * expert, 2 * exchange);
            EXPECT_GT(step, compute) << k;
            EXPECT_GT(step, passes * (layers * attention + head) + layers * busiest) << k;
            EXPECT_LT(step, compute + 0.75 * (in_turn - compute)) << k;
            // Where a launch takes longer than what it hides, exchanges are in one piece.
            Point dear = point;
            dear.new_gpus.device.launch_s.value = dear.old_gpus.device.launch_s.value = 1;
            const PointTimes slow = times_of(dear, point.sequences() / gpus);
            EXPECT_NEAR(exposed_share(slow.exchange_s, slow.of_old.expert, backward_over_forward,
                                      slow.piece_s, Links::shared),
                        1, 1e-9);
        }
    }
    EXPECT_DOUBLE_EQ(travelling(4), 0.75);
}

// DistEP's utilisations (those of Table 3 over the gains printed beside them) are what its anchor
// was worked out of, so that they come out to the digits of the table.
TEST_F(HetermoeArms, DistEpWaitsByAnAnchorOfItsOwn) {
    for (const auto& [k, of_new, of_old] : {std::tuple{8.0, 0.33, 0.51}, {16.0, 0.41, 0.45}}) {
        const ArmResult turns = *run_arm(at("d1-o1", k, Calibration::anchored), Arm::dist_ep);
        EXPECT_NEAR(*turns.new_busy, of_new, 0.02) << k;
        EXPECT_NEAR(*turns.old_busy, of_old, 0.02) << k;
        EXPECT_NEAR(*turns.new_busy + *turns.old_busy, of_new + of_old, 0.005) << k;
    }
    EXPECT_FALSE(dist_ep_exposed_share(Calibration::sheet));
    EXPECT_LT(*dist_ep_exposed_share(Calibration::anchored), 1);
}

// Each kind computes its phase of all rows; a layer waits for what pieces leave of its exchanges,
// out and back at once, over the links of the kind with fewer GPUs.
TEST_F(HetermoeArms, TakingTurnsComputesAndWaitsKindByKind) {
    for (const char* panel : {"d1-o1", "w2-o2", "d2-o3"}) {
        const Point point = at(panel, 8, Calibration::sheet);
        const ArmResult turns = *run_arm(point, Arm::dist_ep);
        const double step_s = point.sequences() * point.tokens / turns.tokens_per_s,
                     layers = point.model.layers;
        const PointTimes of_new = times_of(point, point.sequences() / point.new_gpus.gpus),
                         of_old = times_of(point, point.sequences() / point.old_gpus.gpus);
        const double expert = of_old.of_old.expert,
                     exchange = std::max(of_new.exchange_s, of_old.exchange_s);
        EXPECT_NEAR(*turns.new_busy * step_s,
                    4 * (layers * of_new.of_new.attention + of_new.of_new.head), 1e-9);
        EXPECT_NEAR(*turns.old_busy * step_s, 4 * layers * expert, 1e-9);
        double waits = 0;
        for (const double times : {1, backward_over_forward}) {
            PieceSeconds piece = of_new.piece_s;
            piece.launch *= times;
            waits += pipelined_s(exchange, times * expert, piece, Links::opposite) - times * expert;
        }
        EXPECT_NEAR((1 - *turns.new_busy - *turns.old_busy) * step_s, layers * waits, 1e-9);
    }
}

TEST_F(HetermoeArms, SayWhatTheyWereFittedFrom) {
    EXPECT_FALSE(calibration_json(at("d1-o1", 4, Calibration::sheet)).contains("fitted_from"));
    EXPECT_TRUE(calibration_json(at("d1-o1", 4, Calibration::anchored)).contains("fitted_from"));
    Point other = at("d1-o1", 4, Calibration::anchored);
    other.new_gpus.device = device_profile("h100");
    other.new_gpus.device.attention = AttentionCapability{};
    EXPECT_THROW(run_arm(other, Arm::ep), UserError);
}

}  // namespace
}  // namespace assay::hetermoe
