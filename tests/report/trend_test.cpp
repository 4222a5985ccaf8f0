// Sessions of a trend are compared on the seeds and rounds that they have in common.
#include "suite/report/trend/trend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace assay::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Rounds `first` to `last`, whose values are those of their seeds.
store::HistoryPoint session(const std::string& id, int first, int last) {
    store::HistoryPoint point;
    point.session = id;
    point.started = "2026-11-2" + id + "T02:00:00.000Z";
    point.suspects = std::make_shared<const nlohmann::json>(nlohmann::json::object());
    for (int round = first; round <= last; ++round) {
        point.values.push_back(100 + 10 * round);
        point.draws.push_back({static_cast<std::uint64_t>(round + 1), round});
    }
    point.median = point.values[point.values.size() / 2];
    return point;
}

Experiment experiment(bool deterministic) {
    Experiment experiment;
    experiment.metrics = {{"tokens", "", "", Direction::none, deterministic, {}}};
    return experiment;
}

Trend trend_of(std::vector<store::HistoryPoint> points, bool deterministic = true) {
    const Experiment declared = experiment(deterministic);
    return make_trend(&declared, {}, {"tokens", {}}, std::move(points), {});
}

std::vector<double> medians(const Trend& trend) {
    std::vector<double> all;
    for (const auto& point : trend.points) all.push_back(point.median);
    return all;
}

TEST(Trend, OfUnequalRoundsIsComparedOnWhatTheyShare) {
    std::vector<store::HistoryPoint> points;
    for (const char* id : {"0", "1", "2", "3"}) points.push_back(session(id, 0, 7));
    for (const char* id : {"4", "5", "6", "7"}) points.push_back(session(id, 0, 2));
    const Trend trend = trend_of(points);
    EXPECT_THAT(medians(trend), ElementsAre(110, 110, 110, 110, 110, 110, 110, 110));
    EXPECT_THAT(trend.changes, IsEmpty()) << "other seeds have other values: nothing changed";
    EXPECT_THAT(trend.left_out, ElementsAre(HasSubstr("3 seeds and rounds that all")));
    EXPECT_EQ(trend.points[0].n(), 3);
    EXPECT_EQ(trend_json(trend)["left_out"].size(), 1u);
}

TEST(Trend, OfEqualRoundsLosesNothing) {
    const Trend trend = trend_of({session("0", 0, 4), session("1", 0, 4)});
    EXPECT_THAT(trend.left_out, IsEmpty());
    EXPECT_EQ(trend.points[1].n(), 5);
}

TEST(Trend, ASessionWithNothingInCommonIsLeftOutWithASentence) {
    const Trend trend = trend_of({session("0", 0, 4), session("1", 20, 24), session("2", 0, 4)});
    EXPECT_THAT(medians(trend), ElementsAre(120, 120));
    ASSERT_EQ(trend.left_out.size(), 1u);
    EXPECT_THAT(trend.left_out[0], HasSubstr("session 1 of 2026-11-21 is left out"));
}

TEST(Trend, OneShortSessionTakesNoValuesOfANoisyMetricAway) {
    const std::vector<store::HistoryPoint> points = {session("0", 0, 4), session("1", 0, 0),
                                                     session("2", 0, 4)};
    EXPECT_EQ(trend_of(points, true).points.size(), 3u) << "what is computed is as good as any";
    const Trend noisy = trend_of(points, false);
    ASSERT_EQ(noisy.points.size(), 2u);
    EXPECT_EQ(noisy.points[0].n(), 5);
    EXPECT_EQ(noisy.left_out.size(), 1u);
}

}  // namespace
}  // namespace assay::report
