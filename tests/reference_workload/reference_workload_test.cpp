#include <gtest/gtest.h>

#include "suite/experiment/recorder.hpp"
#include "suite/reference_workload/reference_workload.hpp"

namespace assay::reference_workload {
namespace {

/// The checksum of a double loop over the same numbers, written down once more.
std::uint64_t sum_of_memory() {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < (32U << 20); ++i) sum += i * 0x9E3779B97F4A7C15U;
    return sum;
}

TEST(ReferenceWorkload, TheWorkOfMemoryIsTheSameWithAnyNumberOfThreads) {
    const std::uint64_t expected = sum_of_memory();
    for (const int threads : {1, 3}) {
        const TimedWork done = memory(threads);
        EXPECT_EQ(done.checksum, expected) << threads;
        EXPECT_GT(done.seconds, 0);
    }
}

TEST(ReferenceWorkload, ArithmeticIsAsWrittenDown) {
    std::uint64_t x = 0x9E3779B97F4A7C15U;
    for (int i = 0; i < 6'000'000; ++i) x = (x ^= x << 13, x ^= x >> 7, x ^ x << 17);
    // 31 products of matrices of ones, 192 wide.
    EXPECT_EQ(arithmetic().checksum, x + 31 * 192);
}

TEST(ReferenceWorkload, ProcessesEndAndBytesComeBack) {
    // 0 + 1 + … + 9 of the children's exit statuses, and 800 modulo 256.
    EXPECT_EQ(processes().checksum, 10U * 9 / 2 + 800 % 256);
}

TEST(ReferenceWorkload, OneSampleHasAllMetricsAndRepeatsItsChecksum) {
    const System system = make_system();
    ASSERT_EQ(system.experiments.size(), 1U);
    const Experiment& reference = system.experiments[0];
    SampleSpec spec;
    spec.experiment = reference.id;
    MemoryRecorder first, second;
    reference.run(spec, first);
    reference.run(spec, second);
    for (const MetricSpec& metric : reference.metrics)
        EXPECT_GT(first.value(metric.name), 0) << metric.name;
    EXPECT_EQ(first.value("checksum"), second.value("checksum"));
}

TEST(ReferenceWorkload, OnlyItsOwnNameSelectsIt) {
    Registry registry;
    System other;
    other.id = "other";
    Experiment experiment = make_system().experiments[0];
    experiment.id = "other/one";
    other.experiments.push_back(experiment);
    registry.add(std::move(other));
    registry.add(make_system());
    const auto selected = [&](const char* pattern) {
        std::string ids;
        for (const Experiment* each : registry.select(pattern)) ids += each->id + ' ';
        return ids;
    };
    EXPECT_EQ(selected("all"), "other/one ");
    EXPECT_EQ(selected("*"), "other/one ");
    EXPECT_EQ(selected("*/*"), "other/one ");
    EXPECT_EQ(selected("assay"), "assay/control ");
    EXPECT_EQ(selected("assay/*"), "assay/control ");
    EXPECT_EQ(selected("assay/control"), "assay/control ");
}

}  // namespace
}  // namespace assay::reference_workload
