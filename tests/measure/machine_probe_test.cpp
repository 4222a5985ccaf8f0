// The probes: the kernel multiplies rightly, readings are plausible, failures are said.
#include "suite/measure/machine_probe.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <system_error>

#include "tests/base/temporary_folder.hpp"

namespace assay::measure {
namespace {

ProbeEffort tiny() {
    ProbeEffort effort = ProbeEffort::quick();
    effort.seconds = 0.002;
    effort.copy_bytes = 4 << 20;
    effort.storage_bytes = 2 << 20;
    return effort;
}

TEST(BlockedMatmul, AgreesWithThePlainLoops) {
    std::mt19937 random(3);
    // Small whole numbers: float sums of their products are exact in any order.
    std::uniform_int_distribution<int> digit(-4, 4);
    for (const int n : {48, 96, 240}) {  // one, under one and several blocks deep
        SCOPED_TRACE(n);
        const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
        std::vector<float> a(size), b(size), c(size), expected(size);
        for (auto* matrix : {&a, &b, &c})
            for (float& entry : *matrix) entry = static_cast<float>(digit(random));
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                float sum = c[i * n + j];
                for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
                expected[i * n + j] = sum;
            }
        blocked_matmul(a.data(), b.data(), c.data(), n);
        EXPECT_EQ(c, expected);
    }
    EXPECT_THROW(blocked_matmul(nullptr, nullptr, nullptr, 50), std::invalid_argument);
    EXPECT_THROW(blocked_matmul(nullptr, nullptr, nullptr, 0), std::invalid_argument);
}

TEST(Reading, MedianOfOddAndEvenNumbersOfValues) {
    EXPECT_EQ((Reading{{5, 1, 3}, ""}.median()), 3);
    EXPECT_EQ((Reading{{5, 1, 3, 100}, ""}.median()), 4);
    EXPECT_EQ((Reading{{5, 1, 3}, ""}.least()), 1);
    EXPECT_EQ((Reading{{5, 1, 3}, ""}.most()), 5);
    EXPECT_THROW(Reading{}.median(), std::logic_error);
}

TEST(Threads, EveryOneWorksAndAllRoundsCount) {
    std::atomic<long> rounds{0};
    std::array<std::atomic<bool>, 3> seen{};
    const double rate = rounds_per_second(3, 0, [&](int thread) {
        ++rounds;
        seen[static_cast<std::size_t>(thread)] = true;
    });
    EXPECT_EQ(rounds, 3) << "0 seconds: one round each";
    EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
    EXPECT_GT(rate, 0);
}

TEST(MachineProbe, EveryReadingIsPositiveAndSaysHow) {
    const testing::TemporaryFolder folder;
    const std::vector<std::string> nothing = {"/bin/true"};
    const Reading readings[] = {probe_matmul(tiny(), 2),
                                probe_memory(tiny(), 2),
                                probe_loopback_latency(tiny()),
                                probe_loopback_bandwidth(tiny()),
                                probe_storage(tiny(), folder.path()),
                                probe_detection(tiny()),
                                probe_start(tiny(), nothing)};
    for (const Reading& reading : readings) {
        SCOPED_TRACE(reading.how);
        EXPECT_FALSE(reading.how.empty());
        EXPECT_EQ(reading.values.size(), 3U);
        for (const double value : reading.values) {
            EXPECT_GT(value, 0);
            EXPECT_TRUE(std::isfinite(value));
        }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing is left behind";
}

TEST(MachineProbe, WhatCannotBeDoneIsAnError) {
    EXPECT_THROW(probe_storage(tiny(), "/nonexistent"), std::system_error);
    EXPECT_THROW(probe_start(tiny(), std::vector<std::string>{"/nonexistent"}), std::system_error);
    EXPECT_THROW(probe_start(tiny(), std::vector<std::string>{"/bin/false"}), std::runtime_error);
}

}  // namespace
}  // namespace assay::measure
