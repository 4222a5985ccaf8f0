// Samples whose rows come in parts: readable while they run, of no account before they end, and at
// the end as if everything had come at once.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/store/example_rows.hpp"
#include "tests/store/follower.hpp"

namespace assay::store::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TimeSeries chunk(std::string name, std::vector<double> t_s, std::vector<double> values,
                 Labels labels = {}, std::string unit = "nat") {
    return {std::move(name), std::move(unit),   std::move(labels),
            std::move(t_s),  std::move(values), true};
}

/// A part of a sample, to add something to.
Sample part_of(const std::string& id) {
    Sample part;
    part.id = id;
    return part;
}

class GrowingSample : public ::testing::Test {
  protected:
    GrowingSample() : store(Store::open(file(), Access::write)), session(begin(store)) {}

    std::filesystem::path file() const { return folder / "r.db"; }
    Store reader() const { return Store::open(file(), Access::read); }
    std::string begin_one(std::uint64_t seed = 1) {
        return store.begin_sample(session, example_spec(seed), key_of(example_spec(seed)));
    }
    /// A running sample with one of everything that comes while it runs.
    std::string half_a_sample() {
        const std::string id = begin_one();
        Sample part = full_sample(id, session, example_spec());
        part.hardware.clear();
        EXPECT_TRUE(store.add_to_sample(part));
        return id;
    }

    Folder folder;
    Store store;
    std::string session;
};

TEST_F(GrowingSample, InWhateverPartsEndsAsIfItHadComeAtOnce) {
    std::mt19937 random(16);
    for (int round = 0; round < 40; ++round) {
        SampleSpec spec = example_spec(static_cast<std::uint64_t>(round) + 10);
        const std::string whole = store.begin_sample(session, spec, key_of(spec));
        Sample all = full_sample(whole, session, spec);
        // Which rows go with which of several parts; the last is the end.
        const unsigned parts = 1 + static_cast<unsigned>(random() % 5);
        std::vector<Sample> split(parts);
        const auto deal = [&](auto rows) {
            unsigned part = 0;
            for (auto& row : all.*rows) {
                part = std::min(parts - 1, part + static_cast<unsigned>(random() % 2));
                (split[part].*rows).push_back(row);
            }
        };
        deal(&Sample::metrics);
        deal(&Sample::events);
        deal(&Sample::series_data);
        deal(&Sample::tables);
        deal(&Sample::artifacts);
        deal(&Sample::hardware);
        store.finish_sample(all);
        spec.round = 1;
        const std::string id = store.begin_sample(session, spec, key_of(spec));
        for (Sample& part : split) part.id = id;
        for (unsigned i = 0; i + 1 < parts; ++i) EXPECT_TRUE(store.add_to_sample(split[i]));
        Sample& last = split.back();
        last.status = all.status;
        last.started = all.started;
        last.seconds = all.seconds;
        store.finish_sample(last);
        Sample got = reader().sample(id), expected = reader().sample(whole);
        expected.id = got.id;
        expected.spec.round = 1;
        EXPECT_EQ(text_of(got), text_of(expected)) << "in " << parts << " parts";
    }
    EXPECT_TRUE(store.check().ok);
}

TEST_F(GrowingSample, ShowsWhatItHasWhileItRuns) {
    const std::string id = half_a_sample();
    const Sample seen = reader().sample(id);
    EXPECT_EQ(seen.status, "running");
    EXPECT_THAT(seen.metrics, SizeIs(6));
    EXPECT_THAT(seen.events, SizeIs(2));
    EXPECT_THAT(seen.series_data, SizeIs(2));
    EXPECT_THAT(seen.tables, SizeIs(2));
    EXPECT_THAT(seen.artifacts, SizeIs(3));
    EXPECT_TRUE(reader().check().ok);
}

// Whoever computes something of results must not see half a sample.
TEST_F(GrowingSample, CountsForNothingBeforeItsEnd) {
    const std::string id = half_a_sample();
    {
        const Store read = reader();
        EXPECT_THAT(read.newest_samples("lazarus/fig8"), IsEmpty());
        EXPECT_THAT(read.observations("lazarus/fig8"), IsEmpty());
        EXPECT_THAT(read.unsuccessful_samples("lazarus/fig8"), IsEmpty());
        EXPECT_THAT(read.histories("lazarus/fig8"), IsEmpty());
        EXPECT_THAT(read.series_of("lazarus/fig8"), IsEmpty());
        EXPECT_THAT(read.metrics_of(key_of(example_spec())), IsEmpty());
        EXPECT_THAT(read.history(key_of(example_spec()), {"limit", {}}), IsEmpty());
        ASSERT_THAT(read.session_metrics(session).samples, SizeIs(1));
        EXPECT_EQ(read.session_metrics(session).samples[0].status, "running");
    }
    Store other = Store::open(folder / "other.db", Access::write);
    EXPECT_EQ(other.merge(file()).samples, 0);
    EXPECT_THAT(other.experiments(), IsEmpty());
    EXPECT_EQ(store.prune(std::nullopt, true, false).samples, 0);
    Sample end = part_of(id);
    end.status = "ok";
    store.finish_sample(end);
    EXPECT_THAT(reader().newest_samples("lazarus/fig8"), SizeIs(1));
    EXPECT_EQ(other.merge(file()).samples, 1);
    EXPECT_THAT(other.sample(id).metrics, SizeIs(6));
}

TEST_F(GrowingSample, KeepsItsRowsWhenItsRunnerDiesAndGivesWayToAnotherAttempt) {
    std::string interrupted;
    {
        Store runner = Store::open(file(), Access::write);
        session = begin(runner);
        const SampleSpec spec = example_spec(5);
        interrupted = runner.begin_sample(session, spec, key_of(spec));
        EXPECT_TRUE(runner.add_to_sample(full_sample(interrupted, session, spec)));
    }
    Store next = Store::open(file(), Access::write);
    EXPECT_EQ(next.sample(interrupted).status, "interrupted");
    EXPECT_THAT(next.sample(interrupted).metrics, SizeIs(6)) << "what was there stays";
    EXPECT_THAT(next.newest_samples("lazarus/fig8"), IsEmpty());
    next.resume_session(session);
    const std::string again = next.begin_sample(session, example_spec(5), key_of(example_spec(5)));
    Sample part = part_of(again);
    part.series_data = {chunk("loss", {0}, {7}, {{"rank", std::int64_t{0}}})};
    EXPECT_TRUE(next.add_to_sample(part));
    EXPECT_FALSE(next.has_sample(interrupted));
    const Sample fresh = next.sample(again);
    EXPECT_THAT(fresh.metrics, IsEmpty()) << "none of the first attempt's";
    EXPECT_THAT(fresh.events, IsEmpty());
    ASSERT_THAT(fresh.series_data, SizeIs(1));
    EXPECT_THAT(fresh.series_data[0].values, ElementsAre(7));
    EXPECT_TRUE(next.check().ok) << next.check().problems.front();
}

TEST_F(GrowingSample, IsRefusedWhollyWhereAPartCannotBeRight) {
    const std::string id = half_a_sample();
    const auto refused = [&](auto change) {
        Sample part = part_of(id);
        part.events = {{9, "late", 0, nlohmann::json::object()}};
        change(part);
        return error_of([&] { store.add_to_sample(part); });
    };
    EXPECT_THAT(refused([](Sample& part) {
                    part.metrics = {{"limit", {}, 1}};
                }),
                HasSubstr("recorded the metric limit twice"))
        << "it came with an earlier part";
    EXPECT_THAT(refused([](Sample& part) {
                    part.series_data = {chunk("new", {0}, {1}), chunk("new", {1}, {1}, {}, "bit")};
                }),
                HasSubstr("the curve new is in 'nat' first and in 'bit' later"));
    EXPECT_THAT(refused([](Sample& part) { part.id = "unknown"; }), HasSubstr("is not running"));
    EXPECT_THAT(reader().sample(id).events, SizeIs(2)) << "nothing of those parts";
    EXPECT_THAT(reader().sample(id).series_data, SizeIs(2));
    Sample end = part_of(id);
    end.status = "ok";
    store.finish_sample(end);
    EXPECT_THAT(refused([](Sample&) {}), HasSubstr("ended already"));
}

TEST_F(GrowingSample, DoesNotWaitForAnotherWriter) {
    const std::string id = begin_one();
    Sample part = part_of(id);
    part.metrics = {{"limit", {}, 1}};
    {
        SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
        SQLite::Transaction writing(other, SQLite::TransactionBehavior::IMMEDIATE);
        const auto start = std::chrono::steady_clock::now();
        EXPECT_FALSE(store.add_to_sample(part));
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    }
    EXPECT_THAT(reader().sample(id).metrics, IsEmpty());
    EXPECT_TRUE(store.add_to_sample(part));
    EXPECT_THAT(reader().sample(id).metrics, SizeIs(1));
}

// ---- curves that grow ---------------------------------------------------------------------------

TEST_F(GrowingSample, ReadsItsCurvesJoined) {
    const Labels first{{"rank", std::int64_t{0}}}, second{{"rank", std::int64_t{1}}};
    const std::string id = begin_one();
    Sample part = part_of(id);
    part.series_data = {chunk("loss", {0, 1}, {4, 3}, first),
                        chunk("loss", {0}, {9}, second),
                        {"loss", "nat", first, {0}, {100}}};
    EXPECT_TRUE(store.add_to_sample(part));
    part.series_data = {chunk("loss", {1}, {8}, second),
                        chunk("loss", {2}, {2}, first),
                        {"loss", "nat", first, {1}, {200}}};
    EXPECT_TRUE(store.add_to_sample(part));
    Sample end = part_of(id);
    end.status = "ok";
    end.series_data = {chunk("loss", {3}, {1}, first), chunk("rate", {}, {})};
    store.finish_sample(end);
    const auto expect_curves = [&](const Store& from) {
        const std::vector<TimeSeries> curves = from.sample(id).series_data;
        ASSERT_THAT(curves, SizeIs(5));
        EXPECT_THAT(curves[0].t_s, ElementsAre(0, 1, 2, 3));
        EXPECT_THAT(curves[0].values, ElementsAre(4, 3, 2, 1));
        EXPECT_THAT(curves[1].values, ElementsAre(9, 8));
        EXPECT_THAT(curves[2].values, ElementsAre(100)) << "recorded whole: a curve of its own";
        EXPECT_THAT(curves[3].values, ElementsAre(200));
        EXPECT_THAT(curves[4].values, IsEmpty());
        EXPECT_EQ(curves[4].name, "rate");
        EXPECT_TRUE(from.check().ok);
    };
    expect_curves(reader());
    Store other = Store::open(folder / "other.db", Access::write);
    other.merge(file());
    expect_curves(other);
}

TEST_F(GrowingSample, CheckFindsAChunkWithoutItsCurve) {
    const std::string id = begin_one();
    Sample part = part_of(id);
    part.series_data = {chunk("loss", {0}, {4})};
    EXPECT_TRUE(store.add_to_sample(part));
    part.series_data = {chunk("loss", {1}, {3})};
    EXPECT_TRUE(store.add_to_sample(part));
    SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
        .exec("DELETE FROM time_series WHERE ordinal = 0");
    const auto report = store.check();
    ASSERT_THAT(report.problems, SizeIs(1));
    EXPECT_THAT(report.problems[0], HasSubstr("a part of a curve belongs to none"));
}

// However many chunks came before.
TEST_F(GrowingSample, AChunkFindsItsCurveThroughAnIndex) {
    SQLite::Database sql(file().string());
    SQLite::Statement plan(sql,
                           "EXPLAIN QUERY PLAN SELECT ordinal, unit FROM time_series WHERE sample "
                           "= ? AND name = ? AND labels = ? AND curve = ordinal");
    plan.executeStep();
    EXPECT_THAT(plan.getColumn(3).getString(), HasSubstr("USING INDEX time_series_growing"));
}

}  // namespace
}  // namespace assay::store::testing
