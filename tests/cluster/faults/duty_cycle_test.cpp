// The arithmetic of a duty cycle, driven by simulated timers that are late.
#include <gtest/gtest.h>

#include <random>

#include "suite/cluster/faults/slowing.hpp"

namespace assay::cluster {
namespace {

/// Share of time spent running over `seconds`, when each switch comes up to `lateness_s` late.
double share_run(double share, double lateness_s, double seconds, int seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> late(0, lateness_s);
    double now = 100, ran = 0;
    DutyCycle cycle(share, now);
    while (now < 100 + seconds) {
        const double then = cycle.next_switch_s() + late(random);
        EXPECT_GE(then, now);
        if (!cycle.stopped()) ran += then - now;
        now = then;
        cycle.switch_over(now);
    }
    return ran / (now - 100);
}

TEST(DutyCycle, APreciseTimerGivesTheShareInEveryPeriod) {
    DutyCycle cycle(0.25, 0);
    double now = 0;
    for (int period = 0; period < 100; ++period) {
        EXPECT_FALSE(cycle.stopped());
        EXPECT_NEAR(cycle.next_switch_s() - now, 0.25 * DutyCycle::kPeriod_s, 1e-9);
        cycle.switch_over(now = cycle.next_switch_s());
        EXPECT_TRUE(cycle.stopped());
        EXPECT_NEAR(cycle.next_switch_s() - now, 0.75 * DutyCycle::kPeriod_s, 1e-9);
        cycle.switch_over(now = cycle.next_switch_s());
    }
}

TEST(DutyCycle, LateSwitchesAreMadeUpFor) {
    for (double share : {0.05, 0.1, 0.25, 0.5, 0.9}) {
        for (double lateness_s : {0.0, 0.0002, 0.002}) {
            EXPECT_NEAR(share_run(share, lateness_s, 50, 7), share, 0.01)
                << share << " with switches up to " << lateness_s << " s late";
        }
    }
}

TEST(DutyCycle, AfterALongAbsenceNeitherStopNorRunIsLong) {
    for (bool absent_while_stopped : {false, true}) {
        DutyCycle cycle(0.2, 0);
        double now = 0;
        if (absent_while_stopped) cycle.switch_over(now = cycle.next_switch_s());
        now += 60;
        cycle.switch_over(now);
        EXPECT_LT(cycle.next_switch_s() - now, 0.5);
        EXPECT_GT(cycle.next_switch_s(), now);
    }
}

TEST(DutyCycle, ARestartIsARun) {
    DutyCycle cycle(0.5, 0);
    cycle.switch_over(cycle.next_switch_s());
    cycle.restart(3);
    EXPECT_FALSE(cycle.stopped());
    EXPECT_NEAR(cycle.next_switch_s(), 3 + 0.5 * DutyCycle::kPeriod_s, 1e-9);
}

}  // namespace
}  // namespace assay::cluster
