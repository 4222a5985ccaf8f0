// Histories: what Store::history() returns, and that it reads through indexes.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "suite/store/store.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store {
namespace {

using namespace testing;

const MetricKey throughput{"throughput", {}};

class HistoryTest : public ::testing::Test {
  protected:
    Folder folder;
    Store store = Store::open(folder / "results.db", Access::write);

    std::string session_with(const std::string& started, const std::vector<double>& values,
                             const std::string& commit = "abc") {
        store.put_machine(example_machine());
        Session session = example_session(started);
        session.suspects["commit"] = commit;
        store.begin_session(session);
        std::uint64_t seed = 1;
        for (const double value : values)
            add_sample(store, session.id, example_spec(seed++), value);
        store.finish_session(session.id, "finished");
        return session.id;
    }
};

TEST_F(HistoryTest, OnePointPerSessionInTheOrderInWhichTheyWereRecorded) {
    const auto first = session_with("2026-11-01T01:00:00.000Z", {5});
    const auto second = session_with("2026-10-02T01:00:00.000Z", {7, 9, 8}, "def");
    const auto points = store.history(key_of(example_spec()), throughput);
    ASSERT_EQ(points.size(), 2u);
    EXPECT_EQ(points[0].session, first);
    EXPECT_EQ(points[0].started, "2026-11-01T01:00:00.000Z");
    EXPECT_EQ(points[0].commit, "abc");
    EXPECT_EQ(points[0].suspects->at("compiler"), "g++ 12.2");
    EXPECT_EQ(points[0].median, 5);
    EXPECT_EQ(points[0].n(), 1);
    EXPECT_EQ(points[1].session, second);
    EXPECT_EQ(points[1].commit, "def");
    EXPECT_EQ(points[1].values, (std::vector<double>{7, 9, 8}));
    EXPECT_EQ(points[1].median, 8);
}

TEST_F(HistoryTest, OnlyOkSamplesWithFiniteValuesCount) {
    const auto session = begin(store, "2026-11-01T00:00:00.000Z");
    add_sample(store, session, example_spec(1), 3, "failed");
    add_sample(store, session, example_spec(2), std::nan(""));
    add_sample(store, session, example_spec(3), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(store.history(key_of(example_spec()), throughput).empty());
    add_sample(store, session, example_spec(4), 4);
    const auto points = store.history(key_of(example_spec()), throughput);
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].values, (std::vector<double>{4}));
}

TEST_F(HistoryTest, SinceLeavesOutWhatStartedEarlier) {
    for (const char* day : {"01", "02", "03"})
        session_with("2026-11-" + std::string(day) + "T00:00:00.000Z", {1});
    EXPECT_EQ(store.history(key_of(example_spec()), throughput, "2026-11-02").size(), 2u);
    EXPECT_EQ(store.history(key_of(example_spec()), throughput, "2026-12").size(), 0u);
    EXPECT_EQ(store.history(key_of(example_spec()), throughput, "2026").size(), 3u);
}

// As of files of Google Benchmark, which tell whole seconds: ids would order them at random.
TEST_F(HistoryTest, OfEqualTimesIsInTheOrderOfArrival) {
    std::vector<std::string> arrived;
    for (int i = 0; i < 8; ++i)
        arrived.push_back(session_with("2026-11-01T00:00:00.000Z", {double(i)}));
    const auto points = store.history(key_of(example_spec()), throughput);
    ASSERT_EQ(points.size(), 8u);
    const auto sessions = store.sessions();
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(points[i].session, arrived[i]);
        EXPECT_EQ(sessions[i].id, arrived[7 - i]) << "newest first";
    }
    EXPECT_EQ(store.newest_samples("lazarus/fig8").at(0).session, arrived[7]);
}

TEST_F(HistoryTest, ValuesTellWhatTheyWereDrawnWith) {
    session_with("2026-11-01T00:00:00.000Z", {7, 9});
    const auto points = store.history(key_of(example_spec()), throughput);
    EXPECT_EQ(points.at(0).draws, (std::vector<Draw>{{1, 0}, {2, 0}}));
}

TEST_F(HistoryTest, AnotherSeriesOrMetricIsAnotherHistory) {
    session_with("2026-11-01T00:00:00.000Z", {1});
    auto key = key_of(example_spec());
    EXPECT_TRUE(store.history(key, {"latency", {}}).empty());
    EXPECT_TRUE(store.history(key, {"throughput", {{"rank", std::int64_t{1}}}}).empty());
    key.hardware = "another machine";
    EXPECT_TRUE(store.history(key, throughput).empty());
}

TEST_F(HistoryTest, SeriesAndTheirMetricsAreListed) {
    const auto session = begin(store);
    add_sample(store, session, example_spec(1, "b"));
    add_sample(store, session, example_spec(1, "a"));
    add_sample(store, session, example_spec(1, "broken"), 1, "failed");
    const auto series = store.series_of("lazarus/fig8");
    ASSERT_EQ(series.size(), 2u);
    EXPECT_EQ(series[0].variant, "a");
    EXPECT_EQ(series[1].variant, "b");
    EXPECT_EQ(series[0].axes, example_spec().axes);
    EXPECT_EQ(series[0].hardware, "hardware-hash");
    EXPECT_TRUE(store.series_of("lazarus/fig9").empty());
    EXPECT_EQ(store.metrics_of(series[0]), (std::vector<MetricKey>{throughput}));

    const auto full = example_spec(9, "full");
    const auto id = store.begin_sample(session, full, key_of(full));
    store.finish_sample(full_sample(id, session, full));
    const auto metrics = store.metrics_of(key_of(full));
    EXPECT_EQ(metrics.size(), 6u);
    // The same step as a whole and as a broken number are two.
    EXPECT_EQ(store.history(key_of(full), {"loss", {{"step", 2.0}}})[0].median, 4.5);
    EXPECT_EQ(store.history(key_of(full), {"loss", {{"step", std::int64_t{2}}}})[0].median, 3.5);
}

TEST_F(HistoryTest, OfAnExperimentAreThoseOfEachSeriesAndMetric) {
    session_with("2026-11-01T00:00:00.000Z", {5});
    session_with("2026-11-02T00:00:00.000Z", {7, 9, 8});
    const auto session = begin(store, "2026-11-03T00:00:00.000Z");
    const auto full = example_spec(9, "full");
    store.finish_sample(
        full_sample(store.begin_sample(session, full, key_of(full)), session, full));
    const auto all = store.histories("lazarus/fig8");
    ASSERT_EQ(all.size(), 4u) << "three finite values of full, one of lazarus";
    for (const SeriesHistory& each : all) {
        const auto alone = store.history(each.series, each.metric);
        ASSERT_EQ(each.points.size(), alone.size());
        for (std::size_t i = 0; i < alone.size(); ++i) {
            EXPECT_EQ(each.points[i].session, alone[i].session);
            EXPECT_EQ(each.points[i].values, alone[i].values);
            EXPECT_EQ(each.points[i].median, alone[i].median);
        }
    }
    EXPECT_EQ(all[0].series.variant, "full");
    EXPECT_LT(all[0].metric, all[1].metric);
    EXPECT_EQ(all[3].points[0].started, "2026-11-01T00:00:00.000Z");
    HistoryFilter filter;
    filter.series = [](const SeriesKey& key) { return key.variant == "lazarus"; };
    filter.since = "2026-11-02";
    ASSERT_EQ(store.histories("lazarus/fig8", filter).size(), 1u);
    EXPECT_EQ(store.histories("lazarus/fig8", filter)[0].points.size(), 1u);
    filter.metric = [](const SeriesKey&, const MetricKey& key) { return key.name == "loss"; };
    EXPECT_TRUE(store.histories("lazarus/fig8", filter).empty());
}

// A scan would grow with the database: every table must be searched by an index.
TEST_F(HistoryTest, NothingIsScanned) {
    SQLite::Database file((folder / "results.db").string());
    for (const char* statement : {session_after_sql, history_sql, series_of_sql, metrics_of_sql}) {
        SQLite::Statement plan(file, std::string("EXPLAIN QUERY PLAN ") + statement);
        int searches = 0;
        while (plan.executeStep()) {
            const auto step = plan.getColumn(3).getString();
            EXPECT_EQ(step.find("SCAN"), std::string::npos) << step;
            if (statement == history_sql) {
                EXPECT_EQ(step.find("B-TREE"), std::string::npos) << step;
            }
            if (step.find("SEARCH sample ") != std::string::npos) {
                EXPECT_NE(step.find("USING COVERING INDEX"), std::string::npos)
                    << "a row of sample holds a whole spec: " << step;
            }
            searches += step.find("SEARCH") != std::string::npos;
        }
        EXPECT_GE(searches, statement == session_after_sql ? 1 : 2);
    }
}

}  // namespace
}  // namespace assay::store
