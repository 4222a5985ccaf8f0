// What the view of one sample reads out of it.
#include "gui/data/timeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/report/figures/decimate.hpp"
#include "suite/report/figures/timeline.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::gui {
namespace {

using store::testing::begin;
using store::testing::example_spec;
using store::testing::Folder;

store::Sample with_events(std::vector<store::Event> events) {
    store::Sample sample;
    sample.events = std::move(events);
    return sample;
}

std::vector<std::pair<double, double>> presence(const store::Sample& sample, int rank) {
    std::vector<std::pair<double, double>> all;
    const auto lanes = report::presence_of(sample, 10, suite_event_kinds());
    for (const auto& there : lanes.at(rank)) all.emplace_back(there.from_s, there.to_s);
    return all;
}

using Stays = std::vector<std::pair<double, double>>;

TEST(Presence, FollowsArrivalsAndDepartures) {
    const auto events = [](std::initializer_list<std::pair<double, const char*>> list) {
        std::vector<store::Event> all;
        for (const auto& [t_s, kind] : list) all.push_back({t_s, kind, 3, {}});
        return with_events(all);
    };
    EXPECT_EQ(presence(events({{1, "commit"}}), 3), (Stays{{0, 10}}));
    EXPECT_EQ(presence(events({{2, "join"}}), 3), (Stays{{2, 10}}));
    EXPECT_EQ(presence(events({{4, "death"}}), 3), (Stays{{0, 4}}));
    EXPECT_EQ(presence(events({{1, "join"}, {4, "leave"}, {6, "join"}, {8, "death"}}), 3),
              (Stays{{1, 4}, {6, 8}}));
    // What changes nothing is ignored, whatever the order in which it was recorded.
    EXPECT_EQ(presence(events({{7, "death"}, {2, "join"}, {3, "join"}, {8, "death"}}), 3),
              (Stays{{2, 7}}));
}

TEST(Decimation, KeepsWhatSticksOut) {
    std::vector<double> times, values;
    for (int i = 0; i < 100'000; ++i) {
        times.push_back(i);
        values.push_back(std::sin(i * 0.001));
    }
    values[54'321] = 50;
    values[77'777] = -50;
    values[10] = NAN;
    const auto painted = report::points_to_paint(times, values, 800);
    EXPECT_LE(painted.size(), 3200u);
    EXPECT_TRUE(std::is_sorted(painted.begin(), painted.end()));
    EXPECT_TRUE(std::binary_search(painted.begin(), painted.end(), 54'321u));
    EXPECT_TRUE(std::binary_search(painted.begin(), painted.end(), 77'777u));
    EXPECT_FALSE(std::binary_search(painted.begin(), painted.end(), 10u));
    EXPECT_EQ(painted.front(), 0u);
    EXPECT_EQ(painted.back(), 99'999u);
    // Few: all of them.
    EXPECT_EQ(report::points_to_paint(std::span(times).first(20), std::span(values).first(20), 800)
                  .size(),
              19u);
    EXPECT_TRUE(report::points_to_paint({}, {}, 800).empty());
    // All at one time.
    const std::vector<double> still(5000, 1.0);
    EXPECT_LE(report::points_to_paint(still, std::span(values).first(5000), 800).size(), 4u);
    // Backwards: a damaged file's. As few, none twice.
    const std::vector<double> backwards(times.rbegin(), times.rend());
    EXPECT_LE(report::points_to_paint(backwards, values, 800).size(), 3200u);
}

TEST(Decimation, KeepsBothSidesOfAGap) {
    std::vector<double> times, values;
    for (int i = 0; i < 10'000; ++i) {
        times.push_back(i < 4'000 ? i : i + 5'000);
        values.push_back(i % 10);
    }
    const auto painted = report::points_to_paint(times, values, 100);
    EXPECT_TRUE(std::binary_search(painted.begin(), painted.end(), 3'999u));
    EXPECT_TRUE(std::binary_search(painted.begin(), painted.end(), 4'000u));
    EXPECT_LE(painted.size(), 2u * 100 + 4);
    // What lies far outside does not make what is seen coarser.
    const auto seen = report::points_to_paint(times, values, 100, {9'000, 15'000});
    EXPECT_EQ(seen.front(), 3'999u);
    EXPECT_EQ(seen.back(), 9'999u);
    EXPECT_GE(seen.size(), 150u);
}

TEST(TimelineData, IsReadFromAStoredSample) {
    const Folder folder;
    store::Store store = store::Store::open(folder / "r.db", store::Access::write);
    const std::string session = begin(store);
    const SampleSpec spec = example_spec();
    store::Sample sample = with_events({{2.0, "death", 1, {{"how", "signal 9"}}},
                                        {0.5, "regroup", -1, {{"seconds", 0.25}}},
                                        {1.0, "join", 2, nlohmann::json::object()}});
    sample.id = store.begin_sample(session, spec, store::testing::key_of(spec));
    sample.session = session;
    sample.spec = spec;
    sample.status = "ok";
    sample.seconds = 9;
    sample.series_data = {{"rate", "1/s", {}, {0, 1, 4}, {1, NAN, 3}}};
    sample.hardware = {{.t_s = 0, .device = "cpu"}, {.t_s = 1, .device = "cpu"}};
    sample.hardware[1].throttle_reasons = "thermal";
    store.finish_sample(sample);

    const Timeline timeline = read_timeline(Registry(), store, sample.id, 800);
    EXPECT_EQ(timeline.end_s, 4);
    ASSERT_EQ(timeline.marks.size(), 3u);
    EXPECT_EQ(timeline.marks[0].kind, "regroup");
    EXPECT_EQ(timeline.marks[0].seconds, 0.25);
    EXPECT_FALSE(timeline.marks[0].rank);
    ASSERT_EQ(timeline.lanes.size(), 2u);
    EXPECT_EQ(timeline.lanes[0].present, (Stays{{0, 2}}));
    EXPECT_EQ(timeline.lanes[1].present, (Stays{{1, 4}}));
    ASSERT_EQ(timeline.curves.size(), 1u);
    EXPECT_EQ(timeline.curves[0].points, 3u);
    EXPECT_EQ(timeline.curves[0].drawn, 2u);
    EXPECT_EQ(timeline.curves[0].high, 3);
    ASSERT_EQ(timeline.hardware.size(), 1u);
    EXPECT_EQ(timeline.hardware[0].throttled, 1);
    ASSERT_EQ(timeline.sample.series_data.size(), 2u);
    EXPECT_EQ(timeline.sample.series_data[1].name, "throttled cpu");  // drawn as a curve
    EXPECT_GT(timeline.plot.height(), 100);
}

}  // namespace
}  // namespace assay::gui
