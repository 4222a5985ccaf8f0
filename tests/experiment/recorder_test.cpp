// The in-memory recorder keeps what it is given and refuses what does not fit together.
#include <gtest/gtest.h>

#include "suite/experiment/recorder.hpp"

TEST(MemoryRecorder, FindsAMetricByItsLabels) {
    assay::MemoryRecorder recorder;
    recorder.metric("p", 1.0, {{"failed", std::int64_t{0}}});
    recorder.metric("p", 0.5, {{"failed", std::int64_t{3}}});
    EXPECT_EQ(recorder.value("p", {{"failed", std::int64_t{3}}}), 0.5);
    EXPECT_THROW(recorder.value("p"), std::out_of_range);
    recorder.metric("p", 0.6, {{"failed", std::int64_t{3}}});
    EXPECT_THROW(recorder.value("p", {{"failed", std::int64_t{3}}}), std::out_of_range);
}

TEST(MemoryRecorder, KeepsEventsInOrder) {
    assay::MemoryRecorder recorder;
    recorder.event("fault", 1.0, 2, {{"kind", "kill"}});
    recorder.event("death", 1.01, 2, {});
    ASSERT_EQ(recorder.events.size(), 2u);
    EXPECT_EQ(recorder.events[0].detail["kind"], "kill");
    EXPECT_EQ(recorder.events[1].rank, 2);
}

TEST(MemoryRecorder, RefusesUnequalLengths) {
    assay::MemoryRecorder recorder;
    const std::vector<double> two{1, 2}, three{1, 2, 3};
    EXPECT_THROW(recorder.time_series("loss", "", two, three), std::invalid_argument);
    recorder.time_series("loss", "", two, two);
    EXPECT_EQ(recorder.time_series_kept.size(), 1u);
    const std::vector<assay::TableColumn> columns{{"rank", ""}, {"t", "s"}};
    EXPECT_THROW(recorder.table("t", columns, {{std::int64_t{1}}}), std::invalid_argument);
    recorder.table("t", columns, {{std::int64_t{1}, 0.5}});
    EXPECT_EQ(recorder.tables.size(), 1u);
}

TEST(MemoryRecorder, JoinsThePiecesOfACurveThatGrows) {
    assay::MemoryRecorder recorder;
    const std::vector<double> first{1, 2}, second{3};
    recorder.append_series("loss", "nat", first, first, {{"rank", std::int64_t{0}}});
    recorder.append_series("loss", "nat", first, first, {{"rank", std::int64_t{1}}});
    recorder.time_series("loss", "nat", second, second, {{"rank", std::int64_t{0}}});
    recorder.append_series("loss", "nat", second, second, {{"rank", std::int64_t{0}}});
    ASSERT_EQ(recorder.time_series_kept.size(), 3u) << "one recorded whole is another one";
    EXPECT_EQ(recorder.time_series_kept[0].t_s, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(recorder.time_series_kept[0].values, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(recorder.time_series_kept[1].t_s, first);
    EXPECT_THROW(recorder.append_series("loss", "nat", first, second), std::invalid_argument);
    EXPECT_THROW(recorder.append_series("loss", "bit", second, second, {{"rank", std::int64_t{0}}}),
                 std::invalid_argument);
    EXPECT_EQ(recorder.time_series_kept[0].t_s.size(), 3u);
}

TEST(SampleStatus, HasAName) {
    EXPECT_EQ(assay::to_string(assay::SampleStatus::unsupported), "unsupported");
    EXPECT_EQ(assay::to_string(assay::SampleStatus::running), "running");
}
