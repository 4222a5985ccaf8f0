// The pacer: nothing ends before its deadline, and what ends after it is known to.
#include "suite/cluster/pacer.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

namespace assay::cluster {
namespace {

double processor_s() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
}

TEST(SleepUntil, NeverReturnsBeforeTheDeadline) {
    for (double ahead_s : {0.0, 1e-5, 1e-3, 0.0123, 0.999e-3}) {
        const double deadline_s = monotonic_s() + ahead_s;
        sleep_until(deadline_s);
        // The kernel counts in whole nanoseconds.
        EXPECT_GE(monotonic_s(), deadline_s - 1e-9) << ahead_s;
    }
}

TEST(SleepUntil, ALaterDeadlineIsReachedLater) {
    const double start_s = monotonic_s();
    double order[2] = {};
    std::thread late([&] {
        sleep_until(start_s + 0.2);
        order[1] = monotonic_s();
    });
    sleep_until(start_s + 0.05);
    order[0] = monotonic_s();
    late.join();
    EXPECT_LT(order[0], order[1]);
}

TEST(SleepUntil, SleepsInsteadOfSpinning) {
    const double start_s = monotonic_s(), used_s = processor_s();
    sleep_until(start_s + 0.2);
    EXPECT_LT(processor_s() - used_s, 0.1 * (monotonic_s() - start_s));
}

TEST(SleepUntil, ASignalDoesNotEndTheSleep) {
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = [](int) {};  // without SA_RESTART: system calls return EINTR
    ::sigaction(SIGUSR1, &ignore, &before);
    std::atomic<bool> done{false};
    const pthread_t sleeper = ::pthread_self();
    std::thread disturber([&] {
        while (!done) {
            ::pthread_kill(sleeper, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    const double deadline_s = monotonic_s() + 0.05;
    sleep_until(deadline_s);
    EXPECT_GE(monotonic_s(), deadline_s - 1e-9);
    done = true;
    disturber.join();
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(SleepUntil, RefusesWhatIsNoTime) {
    EXPECT_THROW(sleep_until(std::numeric_limits<double>::infinity()), std::invalid_argument);
    EXPECT_THROW(sleep_until(std::nan("")), std::invalid_argument);
}

TEST(Pacer, ADeadlineInThePastIsLateByItsAge) {
    Pacer pacer(1.0);
    pacer.start(monotonic_s() - 5.0);
    pacer.hold_until(2.0);
    EXPECT_EQ(pacer.report().operations, 1);
    EXPECT_GE(pacer.report().late_s, 3.0);
    EXPECT_EQ(pacer.report().worst_s, pacer.report().late_s);
    // The next deadline stays where it was: less late, and the worst is not forgotten.
    pacer.hold_until(4.9);
    EXPECT_EQ(pacer.report().operations, 2);
    EXPECT_LT(pacer.report().late_s, pacer.report().worst_s);
    EXPECT_GE(pacer.report().worst_s, 3.0);
}

TEST(Pacer, LatenessIsInScenarioTime) {
    Pacer slow(1.0), fast(100.0);
    const double start_s = monotonic_s() - 2.0;
    slow.start(start_s);
    fast.start(start_s);
    slow.hold_until(0);
    fast.hold_until(0);
    EXPECT_GE(fast.report().late_s, 200.0);
    EXPECT_GT(fast.report().late_s, 50 * slow.report().late_s);
}

TEST(Pacer, HoldsToScenarioTimeDividedBySpeed) {
    const double start_s = monotonic_s();
    Pacer pacer(10.0);
    pacer.start(start_s);
    pacer.hold_until(1.0);
    const double passed_s = monotonic_s() - start_s;
    EXPECT_GE(passed_s, 0.1 - 1e-9);
    EXPECT_LT(passed_s, 1.0) << "the speed was ignored";
    // What it reports is what happened: it measured before we did.
    EXPECT_LE(pacer.report().late_s, 10 * (passed_s - 0.1) + 1e-6);
}

TEST(Pacer, AStartBeginsANewReport) {
    Pacer pacer(1.0);
    pacer.start(monotonic_s() - 5.0);
    pacer.hold_until(0);
    pacer.start(monotonic_s());
    EXPECT_EQ(pacer.report().operations, 0);
    EXPECT_EQ(pacer.report().worst_s, 0);
}

TEST(Pacer, RefusesASpeedThatIsNone) {
    for (double speed : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_THROW(Pacer{speed}, std::invalid_argument) << speed;
    }
}

}  // namespace
}  // namespace assay::cluster
