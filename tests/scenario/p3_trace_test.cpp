// The spot trace of the paper's figure 9: the shipped restatement, against the facts of the
// specification and, where it is at hand, against the public file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/scenario/traces/availability_trace.hpp"
#include "tests/scenario/trace_files.hpp"

namespace assay {
namespace {

using ::testing::ElementsAre;

// Alive at the end of every minute.
std::vector<int> per_minute(const AvailabilityTrace& trace, int minutes) {
    std::vector<int> counts;
    int alive = 0;
    std::size_t next = 0;
    for (int minute = 0; minute <= minutes; ++minute) {
        for (; next < trace.events.size() && trace.events[next].t_s <= minute * 60; ++next)
            alive += trace.events[next].add ? 1 : -1;
        counts.push_back(alive);
    }
    return counts;
}

struct Source {
    const char* name;
    AvailabilityTrace (*trace)();
};
void PrintTo(const Source& source, std::ostream* out) { *out << source.name; }

AvailabilityTrace shipped() { return availability_trace(testing::shipped_trace().string()); }
AvailabilityTrace published() {
    const auto file = testing::public_trace("bamboo-p3-trace.csv");
    return file ? segment(availability_trace(file->string()), 0, 4800) : AvailabilityTrace{};
}

class P3Trace : public ::testing::TestWithParam<Source> {
  protected:
    void SetUp() override {
        trace = GetParam().trace();
        if (trace.events.empty()) GTEST_SKIP() << "needs ASSAY_TEST_DATA with bamboo-p3-trace.csv";
    }
    AvailabilityTrace trace;
};

TEST_P(P3Trace, HasThePublishedFacts) {
    const TraceStatistics found = trace_statistics(trace);
    EXPECT_EQ(trace.duration_s, 80 * 60);
    EXPECT_EQ(found.initial, 18);
    EXPECT_EQ(found.most, 32);
    EXPECT_EQ(found.fewest, 15);
    EXPECT_EQ(found.largest_loss, 6);
    EXPECT_EQ(found.largest_loss_at_s, 51 * 60);
    EXPECT_DOUBLE_EQ(found.largest_loss_share, 0.1875);
    const std::vector<int> alive = per_minute(trace, 80);
    EXPECT_EQ(alive[13], 30);
    EXPECT_EQ(alive[33], 32);
    EXPECT_EQ(alive[34], 28);
    EXPECT_EQ(alive[43], 32);
    EXPECT_EQ(alive[51], 26);
    EXPECT_EQ(alive[59], 15);
    EXPECT_EQ(alive[61], 21);
    EXPECT_EQ(alive[71], 32);
    EXPECT_EQ(alive[79], 29);
    EXPECT_EQ(alive[80], 30);
}

TEST_P(P3Trace, DeltasClampedToThreeToTenLoseFourAtMinute34) {
    const MappedTrace mapped = map_trace(trace, NodeMapping::delta_clamped, 10, 3, 1);
    EXPECT_THAT(mapped.t_s, ElementsAre(0, 2040, 2580, 3060, 3180, 3660, 3900, 4620, 4740, 4800));
    EXPECT_THAT(mapped.alive, ElementsAre(10, 6, 10, 4, 3, 9, 10, 9, 7, 8));
    EXPECT_NO_THROW(validate(mapped.faults, mapped.initial_workers));
}

TEST_P(P3Trace, TheOtherMappings) {
    const auto alive = [&](NodeMapping mapping) { return map_trace(trace, mapping, 10, 3, 1); };
    EXPECT_THAT(alive(NodeMapping::min).alive, ElementsAre(10)) << "loses nothing at 34";
    EXPECT_TRUE(alive(NodeMapping::min).faults.empty());
    EXPECT_THAT(alive(NodeMapping::tracked).t_s, ElementsAre(0, 2040, 3060, 3540, 4740));
    EXPECT_THAT(alive(NodeMapping::tracked).alive, ElementsAre(10, 9, 7, 6, 5));
    EXPECT_THAT(alive(NodeMapping::scaled).alive,
                ElementsAre(6, 7, 8, 9, 10, 9, 10, 8, 7, 6, 5, 7, 8, 9, 10, 9));
}

// Subtracting the raw losses from a capped count empties the cluster.
TEST_P(P3Trace, WithoutAFloorNobodyIsLeftAtMinute54) {
    try {
        map_trace(trace, NodeMapping::delta_clamped, 10, 0, 1);
        FAIL() << "accepted";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("nobody alive at 3240 s (minute 54)"));
    }
}

INSTANTIATE_TEST_SUITE_P(Sources, P3Trace,
                         ::testing::Values(Source{"shipped", shipped},
                                           Source{"published", published}),
                         [](const auto& source) { return source.param.name; });

TEST(P3TraceShipped, EqualsThePublishedOneMinuteByMinute) {
    const AvailabilityTrace original = published();
    if (original.events.empty()) GTEST_SKIP() << "needs ASSAY_TEST_DATA with bamboo-p3-trace.csv";
    EXPECT_EQ(per_minute(shipped(), 80), per_minute(original, 80));
    EXPECT_EQ(shipped().events.size(), original.events.size());
}

TEST(P3TracePublished, WholeFilesAreRead) {
    const auto p3 = testing::public_trace("bamboo-p3-trace.csv");
    const auto g4dn = testing::public_trace("bamboo-g4dn-trace.csv");
    if (!p3 || !g4dn) GTEST_SKIP() << "needs ASSAY_TEST_DATA with Bamboo's two traces";
    const AvailabilityTrace trace = availability_trace(p3->string());
    EXPECT_EQ(trace.events.size(), 344U);
    EXPECT_NEAR(trace.duration_s / 3600, 11.37, 0.005);
    EXPECT_EQ(trace_statistics(trace).most, 32);
    const TraceStatistics other = trace_statistics(availability_trace(g4dn->string()));
    EXPECT_EQ(other.initial, 0) << "its first nodes come after eight minutes";
    EXPECT_EQ(other.most, 24);
    EXPECT_EQ(other.losses + other.additions, 153);
}

}  // namespace
}  // namespace assay
