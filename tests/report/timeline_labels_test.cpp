#include "suite/report/timeline_labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/report/fixtures.hpp"

namespace assay::report {
namespace {

TEST(TimelineMarks, MergeEqualKindsAndTellTheTimeSinceTheFault) {
    const std::vector<TimelineMark> marks = timeline_marks(live_sample().events, 0.05);
    std::vector<std::string> texts;
    for (const TimelineMark& mark : marks) texts.push_back(mark.text);
    EXPECT_EQ(texts,
              (std::vector<std::string>{
                  "regroup ×4 0.200 s", "kill r1 2.400 s", "death r1 +3 ms", "detection r1 +4 ms",
                  "regroup ×3 +15 ms", "transfer ×2 +50 ms", "join r4 4.600 s", "regroup ×4 +40 ms",
                  "transfer r4 +100 ms", "hang r3 5.500 s", "detection r3 +520 ms",
                  "death r3 +522 ms", "regroup ×3 +540 ms"}));
}

TEST(PlaceLabels, NeverOverlapAndStayInside) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> x(80, 780), width(20, 150);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::pair<double, double>> wanted;
        for (int i = 0; i < 25; ++i) wanted.emplace_back(x(random), width(random));
        std::sort(wanted.begin(), wanted.end());
        const auto placed = place_labels(wanted, 74, 784, 5);
        ASSERT_EQ(placed.size(), wanted.size());
        for (std::size_t i = 0; i < placed.size(); ++i) {
            if (!placed[i].shown) continue;
            EXPECT_LT(placed[i].row, 5u);
            EXPECT_GE(placed[i].left, 74);
            EXPECT_LE(placed[i].left + wanted[i].second, 784 + 1e-9);
            for (std::size_t j = 0; j < i; ++j) {
                if (!placed[j].shown || placed[j].row != placed[i].row) continue;
                EXPECT_LE(placed[j].left + wanted[j].second, placed[i].left);
            }
        }
        EXPECT_TRUE(placed.front().shown);
    }
}

}  // namespace
}  // namespace assay::report
