// What samples record reaches the store while they run: in few transactions, in order, and nothing
// of it is lost where somebody dies.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "suite/runner/runner.hpp"
#include "suite/runner/sample/live_rows.hpp"
#include "tests/runner/dummy_system.hpp"
#include "tests/runner/session_fixture.hpp"
#include "tests/store/follower.hpp"

namespace assay::runner {
namespace {

using store::testing::contents_of;
using store::testing::Follower;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double never = std::numeric_limits<double>::infinity();

store::Event event(int step) { return {0.1 * step, "commit", -1, {{"step", step}}}; }

store::TimeSeries piece(double t_s, double value, std::string unit = "nat") {
    return {"loss", std::move(unit), {}, {t_s}, {value}, true};
}

/// A sample that runs in a store, without a process.
class LiveRowsTest : public assay::testing::SessionFixture {
  protected:
    LiveRowsTest() {
        store.put_machine({"machine", {}});
        store::Session session;
        session.id = "session";
        session.machine = "machine";
        store.begin_session(session);
        SampleSpec spec;
        spec.experiment = "dummy/behave";
        id = store.begin_sample("session", spec, {});
        changes();
    }
    /// How often the database was written to since the last call.
    std::int64_t changes() {
        const std::int64_t before = seen.change;
        seen = store.changes_since(seen).next;
        return seen.change - before;
    }
    store::Sample stored() const { return store.sample(id); }

    std::string id;
    store::Cursor seen;
};

TEST_F(LiveRowsTest, AreStoredAfterAQuarterOfASecondAtTheMost) {
    LiveRows rows(&store, id);
    EXPECT_EQ(rows.store_due(0), never) << "there is nothing to store";
    rows.add(event(1));
    EXPECT_EQ(rows.store_due(0.01), LiveRows::every_s) << "short samples are stored at their end";
    rows.add(event(2));
    rows.add(Progress{0.5, "half"});
    EXPECT_EQ(rows.store_due(0.2), LiveRows::every_s);
    EXPECT_THAT(stored().events, IsEmpty());
    EXPECT_EQ(rows.store_due(0.26), never);
    EXPECT_THAT(stored().events, SizeIs(2));
    EXPECT_EQ(stored().status, "running");
    rows.add(Progress{0.6, "more"});
    EXPECT_EQ(rows.store_due(0.6), never) << "progress is not stored";
    rows.add(event(3));
    EXPECT_EQ(rows.store_due(0.4), 0.26 + LiveRows::every_s);
    EXPECT_EQ(rows.store_due(1), never) << "after a pause";
    EXPECT_THAT(stored().events, SizeIs(3));
    EXPECT_EQ(changes(), 2);
}

TEST_F(LiveRowsTest, OfAStormAreStoredTogether) {
    LiveRows rows(&store, id);
    constexpr std::size_t many = 10'000;
    for (std::size_t i = 0; i < many; ++i) {
        rows.add(event(static_cast<int>(i)));
        rows.store_due(0.1);
    }
    EXPECT_EQ(changes(), many / LiveRows::most_rows);
    store::Sample rest = rows.take_rest();
    rest.status = "ok";
    store.finish_sample(rest);
    const store::Sample whole = stored();
    ASSERT_THAT(whole.events, SizeIs(many));
    for (std::size_t i = 0; i < many; ++i)
        ASSERT_EQ(whole.events[i].detail.at("step"), static_cast<int>(i));
}

TEST_F(LiveRowsTest, PiecesOfACurveAreOneChunkOfEachBatch) {
    LiveRows rows(&store, id);
    for (int batch = 0; batch < 3; ++batch) {
        for (int i = 0; i < 100; ++i) rows.add(piece(batch * 100 + i, i));
        rows.add(store::TimeSeries{"loss", "nat", {}, {0}, {1}});
        rows.store_due(batch + 1);
    }
    SQLite::Database sql(store.path().string());
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM time_series WHERE curve IS NOT NULL").getInt(),
              3);
    const std::vector<store::TimeSeries> curves = stored().series_data;
    ASSERT_THAT(curves, SizeIs(4));
    ASSERT_THAT(curves[0].t_s, SizeIs(300));
    for (int i = 0; i < 300; ++i) ASSERT_EQ(curves[0].t_s[static_cast<std::size_t>(i)], i);
}

TEST_F(LiveRowsTest, WaitWhileAnotherProcessWrites) {
    LiveRows rows(&store, id);
    {
        SQLite::Database other(store.path().string(), SQLite::OPEN_READWRITE);
        SQLite::Transaction writing(other, SQLite::TransactionBehavior::IMMEDIATE);
        for (std::size_t i = 0; i < 2 * LiveRows::most_rows; ++i) {
            rows.add(event(static_cast<int>(i)));
            rows.add(store::MetricValue{"m", {{"i", std::int64_t(i)}}, 1});
        }
        EXPECT_EQ(rows.store_due(1), 1 + LiveRows::every_s);
        EXPECT_EQ(rows.store_due(1.1), 1 + LiveRows::every_s) << "many, but it was refused";
    }
    EXPECT_EQ(rows.store_due(1.3), never);
    EXPECT_THAT(stored().events, SizeIs(2 * LiveRows::most_rows));
    EXPECT_THAT(rows.unstorable(), IsEmpty()) << "nothing came twice";
    EXPECT_THAT(rows.take_stored_metrics(), SizeIs(2 * LiveRows::most_rows));
}

TEST_F(LiveRowsTest, ThatCannotBeStoredAreLeftOutWheneverTheyCome) {
    LiveRows rows(&store, id);
    rows.add(store::MetricValue{"m", {}, 1});
    rows.add(piece(0, 1));
    rows.store_due(1);
    rows.add(store::MetricValue{"m", {}, 2});
    rows.add(piece(1, 2, "bit"));
    rows.add(piece(2, 3));
    rows.store_due(2);
    EXPECT_THAT(rows.unstorable(),
                ElementsAre("recorded the metric m twice; a label must tell the values apart",
                            "the curve loss is in 'nat' first and in 'bit' later"));
    EXPECT_THAT(stored().metrics, SizeIs(1));
    EXPECT_THAT(stored().series_data.at(0).values, ElementsAre(1, 3));
}

TEST_F(LiveRowsTest, OutsideAStoreAreKept) {
    LiveRows rows(nullptr, "id");
    for (int i = 0; i < 5000; ++i) {
        rows.add(event(i));
        rows.add(piece(i, i));
        EXPECT_EQ(rows.store_due(i), never);
    }
    const store::Sample all = rows.take_rest();
    EXPECT_THAT(all.events, SizeIs(5000));
    ASSERT_THAT(all.series_data, SizeIs(1));
    EXPECT_THAT(all.series_data[0].values, SizeIs(5000));
}

// ---- whole sessions -----------------------------------------------------------------------------

class LiveSessionTest : public assay::testing::SessionFixture {
  protected:
    Outcome run(const std::string& how) {
        Request request;
        request.patterns = {"dummy/behave"};
        request.axes["how"] = {how};
        request.fresh = true;
        return SessionFixture::run(assay::testing::make_dummy_registry(), request);
    }
    store::Store reader() const { return store::Store::open(store.path(), store::Access::read); }

    static void expect_whole(const store::Sample& sample) {
        ASSERT_THAT(sample.events, SizeIs(40));
        for (int step = 0; step < 40; ++step)
            EXPECT_EQ(sample.events[static_cast<std::size_t>(step)].detail.at("step"), step);
        ASSERT_GE(sample.series_data.size(), 2u);
        EXPECT_THAT(sample.series_data[0].values, SizeIs(40));
        EXPECT_THAT(sample.series_data[1].t_s, SizeIs(40));
        ASSERT_THAT(sample.metrics, SizeIs(1));
    }
};

TEST_F(LiveSessionTest, AReaderFollowsASampleThatRuns) {
    const store::Store other = reader();
    Follower follower;
    follower.cursor = other.changes_since({}).next;
    std::size_t looks_with_news = 0, points = 0;
    on_notice = [&](const Notice& notice) {
        if (notice.kind != "event") return;
        for (const store::SampleChange& change : follower.look(other).samples) {
            EXPECT_EQ(change.sample.status, "running");
            looks_with_news += !change.series.empty();
            for (const store::SeriesChunk& chunk : change.series) points += chunk.points.t_s.size();
        }
        EXPECT_THAT(other.newest_samples("dummy/behave"), IsEmpty());
    };
    const Outcome outcome = run("grow");
    EXPECT_GE(looks_with_news, 2u) << "in 0.8 s";
    EXPECT_LE(looks_with_news, 8u);
    EXPECT_GT(points, 20u);
    EXPECT_LT(points, 80u) << "the last ones come with its end";
    on_notice = {};
    follower.look(other);
    EXPECT_EQ(follower.contents(), contents_of(store));
    ASSERT_THAT(outcome.samples, SizeIs(1));
    EXPECT_EQ(outcome.samples[0].status, "ok") << outcome.samples[0].reason;
    EXPECT_THAT(notices.at(notices.size() - 2).body.at("metrics"), SizeIs(1))
        << "those of all parts";
    expect_whole(store.sample(outcome.samples[0].id));
    EXPECT_TRUE(store.check().ok);
}

TEST_F(LiveSessionTest, ASampleThatIsKilledLeavesWhatItRecorded) {
    const Outcome outcome = run("grow_and_die");
    ASSERT_THAT(outcome.samples, SizeIs(1));
    EXPECT_EQ(outcome.samples[0].status, "failed");
    EXPECT_THAT(outcome.samples[0].reason, HasSubstr("signal 9"));
    expect_whole(store.sample(outcome.samples[0].id));
    EXPECT_THAT(store.newest_samples("dummy/behave"), IsEmpty());
}

TEST_F(LiveSessionTest, AStormTakesFewTransactions) {
    const std::int64_t before = store.changes_since({}).next.change;
    const Outcome outcome = run("storm");
    ASSERT_THAT(outcome.samples, SizeIs(1));
    EXPECT_THAT(outcome.samples[0].events, SizeIs(20'000));
    // Besides: the session begins and ends, the sample begins and ends.
    EXPECT_LT(store.changes_since({}).next.change - before, 100);
}

}  // namespace
}  // namespace assay::runner
