// Words that name sessions, and arms of the samples of a database.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "suite/compare/compare.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/compare/selector.hpp"
#include "suite/store/store.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::compare {
namespace {

using store::Store;
using ::testing::HasSubstr;

/// Three days, each with a session of its own commit; the last one still runs.
class Selectors : public ::testing::Test {
  protected:
    std::string add(const std::string& started, const std::string& commit, double value,
                    const std::string& state) {
        store.put_machine(store::testing::example_machine());
        store::Session session = store::testing::example_session(started);
        session.suspects["commit"] = commit;
        store.begin_session(session);
        for (std::uint64_t seed = 1; seed <= 7; ++seed)
            store::testing::add_sample(store, session.id, store::testing::example_spec(seed),
                                       value + 0.001 * static_cast<double>(seed), "ok");
        if (!state.empty()) store.finish_session(session.id, state);
        return session.id;
    }

    std::vector<std::string> ids(const std::string& selector) const {
        const auto noon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 4);
        std::vector<std::string> found;
        for (const auto& session :
             select_sessions(store, selector, noon + std::chrono::hours(12)).sessions)
            found.push_back(session.id);
        return found;
    }
    std::string refusal(const std::string& selector) const {
        try {
            ids(selector);
        } catch (const UserError& error) {
            return error.what();
        }
        return "nothing was wrong";
    }

    store::testing::Folder folder;
    Store store = Store::open(folder / "results.db", store::Access::write);
    std::string first = add("2026-11-01T02:00:00.000Z", "aaa111", 1, "finished");
    std::string second = add("2026-11-02T02:00:00.000Z", "aaa222", 2, "finished");
    std::string cut = add("2026-11-03T02:00:00.000Z", "aaa222", 2, "interrupted");
    std::string running = add("2026-11-04T02:00:00.000Z", "bbb", 2, "");
    Registry registry;
};

using Ids = std::vector<std::string>;

TEST_F(Selectors, LatestCountsFinishedSessions) {
    EXPECT_EQ(ids("latest"), Ids{second});
    EXPECT_EQ(ids("latest~0"), Ids{second});
    EXPECT_EQ(ids("latest~1"), Ids{first});
    EXPECT_THAT(refusal("latest~2"), HasSubstr("2 finished sessions"));
    EXPECT_THAT(refusal("latest~x"), HasSubstr("latest~N"));
}

// Files of Google Benchmark tell whole seconds and are over when they begin.
TEST_F(Selectors, OfOneTimeTheLastToArriveIsTheLatest) {
    Ids newest_first;
    for (int i = 0; i < 6; ++i)
        newest_first.insert(newest_first.begin(),
                            add("2026-11-02T03:00:00.000Z", "aaa333", 3, "finished"));
    SQLite::Database((folder / "results.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE session SET finished = started WHERE state = 'finished'");
    for (std::size_t i = 0; i < newest_first.size(); ++i)
        EXPECT_EQ(ids("latest~" + std::to_string(i)), Ids{newest_first[i]});
    std::reverse(newest_first.begin(), newest_first.end());
    EXPECT_EQ(ids("commit:aaa333"), newest_first) << "of several, the oldest first";
}

TEST_F(Selectors, AnIdOrItsBeginning) {
    EXPECT_EQ(ids(first), Ids{first});
    EXPECT_EQ(ids(running.substr(0, 13)), Ids{running}) << "named by its id, it may still run";
    EXPECT_THAT(refusal("zzzz"), HasSubstr(second.substr(0, 8))) << "lists what there is";
}

TEST_F(Selectors, Commits) {
    EXPECT_EQ(ids("commit:aaa2"), (Ids{second, cut}));
    EXPECT_EQ(ids("commit:aaa111"), Ids{first});
    EXPECT_THAT(refusal("commit:aaa"), HasSubstr("aaa111, aaa222"));
    EXPECT_THAT(refusal("commit:ccc"), HasSubstr("names no session"));
    EXPECT_THAT(refusal("commit:bbb"), HasSubstr("names no session")) << "it still runs";
    EXPECT_THAT(refusal("commit:"), HasSubstr("begins with"));
}

TEST_F(Selectors, ASeriesKnowsWhatItsSamplesTook) {
    SQLite::Database((folder / "results.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE sample SET seconds = seed WHERE session = '" + first + "'");
    EXPECT_DOUBLE_EQ(arm_of_sessions(registry, store, {first}).series.at(0).sample_s, 4);
}

TEST_F(Selectors, Machines) {
    EXPECT_EQ(ids("machine:f1n"), (Ids{first, second, cut}));
    EXPECT_THAT(refusal("machine:x"), HasSubstr("names no session"));
}

TEST_F(Selectors, Times) {
    EXPECT_EQ(ids("since:2026-11-02"), (Ids{second, cut}));
    EXPECT_EQ(ids("since:2026-11-02T02:01"), Ids{cut});
    EXPECT_EQ(ids("since:2d"), Ids{cut});
    EXPECT_EQ(ids("since:1w"), (Ids{first, second, cut}));
    EXPECT_EQ(ids("between:2026-11-01..2026-11-02"), (Ids{first, second})) << "the last day too";
    EXPECT_EQ(ids("between:2026-11-01..2026-11-02T01"), Ids{first});
    EXPECT_EQ(ids("between:2026-11..2026-11"), (Ids{first, second, cut}));
    EXPECT_THAT(refusal("since:yesterday"), HasSubstr("is no time"));
    EXPECT_THAT(refusal("since:3m"), HasSubstr("is no time"));
    EXPECT_THAT(refusal("between:2026-11-01"), HasSubstr("FROM..TO"));
    EXPECT_THAT(refusal("since:2026-13-01"), HasSubstr("is no time: there is no month 13"));
    EXPECT_THAT(refusal("since:2026-13"), HasSubstr("is no time: there is no month 13"));
    EXPECT_THAT(refusal("since:2026-11-21T25"), HasSubstr("is no time: there is no hour 25"));
    EXPECT_THAT(refusal("between:2026-11-03..2026-11-01"),
                HasSubstr("ends before it begins: write between:2026-11-01..2026-11-03"));
    EXPECT_THAT(refusal("since:2027"), HasSubstr("names no session"));
    for (const char* long_ago : {"since:50000w", "since:100000w"})  // beyond the clock's reach
        EXPECT_EQ(ids(long_ago), (Ids{first, second, cut})) << long_ago;
}

TEST_F(Selectors, Baselines) {
    EXPECT_THAT(refusal("baseline:main"), HasSubstr("there is none"));
    store.set_baseline("main", first);
    EXPECT_EQ(ids("baseline:main"), Ids{first});
    EXPECT_THAT(refusal("baseline:other"), HasSubstr("known: main"));
}

TEST_F(Selectors, UnknownKindsAreRefused) {
    EXPECT_THAT(refusal("branch:main"), HasSubstr("known: baseline, commit, machine"));
}

TEST_F(Selectors, ArmsOfSessionsPairByTheirSeeds) {
    const Arm a = read_arm(registry, store.path(), "latest~1");
    const Arm b = read_arm(registry, store.path(), "latest");
    EXPECT_EQ(a.says, "session " + first.substr(0, 8) + " of 2026-11-01 02:00 (latest~1)");
    EXPECT_EQ(a.suspects.at("commit"), "aaa111");
    EXPECT_EQ(b.suspects.at("commit"), "aaa222");
    ASSERT_EQ(a.series.size(), 1u);
    EXPECT_EQ(a.series[0].name.series_text(), "lazarus/fig8 lazarus model=gpt-l nodes=10 skew=4.0");
    EXPECT_EQ(a.series[0].context.at("scenario"), "kill:rank=1@step=5");
    EXPECT_EQ(a.series[0].context.at("hardware"), "hardware-hash");
    Options all;
    all.all_metrics = true;  // this registry knows no directions
    const Row row = compare(a, b, all).at(0);
    EXPECT_TRUE(row.paired);
    EXPECT_EQ(row.n_a, 7);
    EXPECT_EQ(row.id.metric, "throughput");
    EXPECT_NEAR(row.ratio, 2.004 / 1.004, 1e-12);  // of the middle seed
    EXPECT_EQ(row.reason_code, Reason::no_direction);
    EXPECT_FALSE(row.a->points[0].sample.empty());
}

TEST_F(Selectors, UnitsOfForeignExperimentsComeFromTheDatabase) {
    store.put_metric_units({{"lazarus/fig8", "throughput", "1/s", Direction::higher}});
    const Arm a = read_arm(registry, store.path(), "latest~1");
    const Arm b = read_arm(registry, store.path(), "latest");
    const Row row = compare(a, b).at(0);
    EXPECT_EQ(row.unit, "1/s");
    EXPECT_EQ(row.verdict, RowVerdict::faster);
}

// Sessions from before inputs were hashed stay comparable; two hashes that differ are two things.
TEST_F(Selectors, InputsThatASideDoesNotTellAreUnknown) {
    const Arm told = read_arm(registry, store.path(), "latest");
    ASSERT_TRUE(told.series.at(0).context.contains("data"));
    SQLite::Database(store.path().string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE series SET data = ''");
    const Arm untold = read_arm(registry, store.path(), "latest~1");
    Options all;
    all.all_metrics = true;
    EXPECT_THAT(compare(untold, told, all).at(0).reason, HasSubstr("context unknown in A: data"));
    Arm other = told;
    other.series.at(0).context["data"] = "another";
    EXPECT_EQ(compare(told, other, all).at(0).reason_code, Reason::context_differs);
}

TEST_F(Selectors, SeveralSessionsOfASideKeepAllTheirValues) {
    const Arm b = read_arm(registry, store.path(), "commit:aaa222");
    ASSERT_EQ(b.series.size(), 1u);
    EXPECT_EQ(b.series[0].points.size(), 14u);
    std::set<std::string> pairs;
    for (const Point& point : b.series[0].points) pairs.insert(point.pair);
    EXPECT_EQ(pairs, std::set<std::string>{""}) << "values of different days belong to nothing";
    EXPECT_EQ(b.series[0].points.front().session, 1);
    EXPECT_EQ(b.series[0].points.back().session, 2) << "each knows its session";
    EXPECT_THAT(b.says, HasSubstr("2 sessions of 2026-11-02 02:00 to 2026-11-03 02:00"));
}

TEST_F(Selectors, TheLatestIsNoRerunOfANight) {
    const std::string latest = read_arm(registry, store.path(), "latest").says;
    store::Session session = store::testing::example_session("2026-11-06T00:00:00.000Z");
    session.suspects[store::rerun_mark] = "of a night's candidates";
    store.begin_session(session);
    store::testing::add_sample(store, session.id, store::testing::example_spec(1), 1, "ok");
    store.finish_session(session.id, "finished");
    EXPECT_EQ(read_arm(registry, store.path(), "latest").says, latest);
    EXPECT_NE(read_arm(registry, store.path(), session.id.substr(0, 8)).says, latest);
}

TEST_F(Selectors, TheLatestIsWhatFinishedLast) {
    store.finish_session(running, "finished");
    const std::string latest = read_arm(registry, store.path(), "latest").says;
    store::Session session = store::testing::example_session("2025-01-01T00:00:00.000Z");
    store.begin_session(session);
    store::testing::add_sample(store, session.id, store::testing::example_spec(1), 8, "ok");
    store.finish_session(session.id, "interrupted");
    EXPECT_EQ(read_arm(registry, store.path(), "latest").says, latest);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    store.resume_session(session.id);
    store.finish_session(session.id, "finished");
    EXPECT_NE(read_arm(registry, store.path(), "latest").says, latest);
    EXPECT_NEAR(arm_of_store(registry, store).series.at(0).points.at(0).value, 8, 1e-12);
}

TEST_F(Selectors, RepetitionsOfAnImportedBenchmarkBelongToNothing) {
    store::Session session = store::testing::example_session("2026-11-06T00:00:00.000Z");
    store.begin_session(session);
    SampleSpec spec = store::testing::example_spec(1);
    spec.experiment = "benchmark/BM_x";
    for (spec.round = 0; spec.round < 3; ++spec.round)
        store::testing::add_sample(store, session.id, spec, 1, "ok");
    store.finish_session(session.id, "finished");
    const Arm arm = read_arm(registry, store.path(), "latest");
    for (const Point& point : arm.series.at(0).points) EXPECT_EQ(point.pair, "");
}

TEST_F(Selectors, ADatabaseGivesTheNewestSamplesOfEverySeries) {
    const SampleSpec other = store::testing::example_spec(1, "rival");
    store::Session session = store::testing::example_session("2026-10-01T00:00:00.000Z");
    store.begin_session(session);
    store::testing::add_sample(store, session.id, other, 5, "ok");
    store.finish_session(session.id, "finished");
    const Arm arm = arm_of_store(registry, store);
    ASSERT_EQ(arm.series.size(), 2u);
    for (const Series& series : arm.series) {
        const bool rival = series.name.variant == "rival";
        EXPECT_EQ(series.points.size(), rival ? 1u : 7u) << "of one session, the newest";
        EXPECT_NEAR(series.points[0].value, rival ? 5 : 2.001, 1e-12);
    }
    const Arm by_file = read_arm(registry, "no/such.db", store.path().string());
    EXPECT_EQ(by_file.series.size(), 2u);
}

TEST_F(Selectors, AnotherDatabasesSessionsBySelector) {
    const Arm arm = read_arm(registry, "no/such.db", store.path().string() + ":latest~1");
    EXPECT_EQ(arm.series.at(0).points.size(), 7u);
    EXPECT_NEAR(arm.series[0].points[0].value, 1.001, 1e-12);
    EXPECT_THAT(arm.says, HasSubstr(first.substr(0, 8)));
}

TEST_F(Selectors, FailedAndMarkedSamplesAreCounted) {
    store::Session session = store::testing::example_session("2026-11-05T00:00:00.000Z");
    store.begin_session(session);
    using store::testing::example_spec;
    store::testing::add_sample(store, session.id, example_spec(1), 1, "failed");
    store::testing::add_sample(store, session.id, example_spec(2), 1, "invalid");
    store::testing::add_sample(store, session.id, example_spec(3), 1, "ok");
    store::testing::add_sample(store, session.id, example_spec(1, "bad"), 1, "failed");
    store.finish_session(session.id, "finished");
    const Arm arm = read_arm(registry, store.path(), "latest");
    ASSERT_EQ(arm.series.size(), 2u);
    for (const Series& series : arm.series) {
        const bool bad = series.name.variant == "bad";
        EXPECT_EQ(series.failed, 1);
        EXPECT_EQ(series.excluded, bad ? 0 : 1);
        EXPECT_EQ(series.points.size(), bad ? 0u : 1u);
        EXPECT_EQ(series.name.metric, bad ? "" : "throughput");
    }
}

TEST_F(Selectors, ABaselinesNameMayLookLikeAFile) {
    for (const std::string name : {"feature/x", "my.db", "old.db:1", "run.json"}) {
        store.set_baseline(name, first);
        EXPECT_THAT(read_arm(registry, store.path(), "baseline:" + name).says,
                    HasSubstr(first.substr(0, 8)))
            << name;
    }
    const std::string there = store.path().string() + ":baseline:feature/x";
    EXPECT_THAT(read_arm(registry, "no/such.db", there).says, HasSubstr(first.substr(0, 8)));
}

TEST_F(Selectors, DatabasesMayBeCalledSqlite) {
    const std::filesystem::path file = folder / "other.sqlite";
    store::Store other = Store::open(file, store::Access::write);
    other.put_machine(store::testing::example_machine());
    const store::Session session = store::testing::example_session("2026-11-01T02:00:00.000Z");
    other.begin_session(session);
    store::testing::add_sample(other, session.id, store::testing::example_spec(1), 1, "ok");
    other.finish_session(session.id, "finished");
    EXPECT_EQ(read_arm(registry, "no/such.db", file.string()).series.size(), 1u);
    EXPECT_THAT(read_arm(registry, "no/such.db", file.string() + ":latest").says,
                HasSubstr(session.id.substr(0, 8)));
    EXPECT_THROW(read_arm(registry, store.path(), "missing.sqlite"), UserError);
}

TEST_F(Selectors, ExportedSessionsAreToBeImportedFirst) {
    const std::string file = (folder / "other.jsonl").string();
    std::ofstream(file) << "{\"format\":\"assay-results\"}\n";
    try {
        read_arm(registry, store.path(), file);
        FAIL() << "it is no benchmark's file";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("assay import " + file));
    }
}

TEST_F(Selectors, WhatIsNoFileAndNoSessionIsRefused) {
    const auto refused = [&](const std::string& typed) {
        EXPECT_THROW(read_arm(registry, store.path(), typed), UserError) << typed;
    };
    refused("");
    refused("missing.json");
    refused("missing.db");
    refused("missing.db:latest");
    refused((folder / "").string());
}

// It may have recorded a value, and fail after that.
TEST_F(Selectors, ASampleThatRunsHasNoPointsYet) {
    const auto expect_points = [&](std::size_t of_series, std::size_t of_others) {
        for (const Arm& arm :
             {arm_of_sessions(registry, store, {running}), arm_of_store(registry, store)}) {
            ASSERT_EQ(arm.series.size(), of_series > 0 ? 2u : 1u);
            EXPECT_EQ(arm.series[0].points.size(), of_others);
            EXPECT_EQ(arm.series[0].failed, 0);
            if (of_series > 0) {
                EXPECT_EQ(arm.series[1].points.size(), of_series);
            }
        }
    };
    for (const char* variant : {"lazarus", "rival"}) {
        const SampleSpec spec = store::testing::example_spec(99, variant);
        store::Sample part;
        part.id = store.begin_sample(running, spec, store::testing::key_of(spec));
        part.metrics = {{"throughput", {}, 1e9}};
        EXPECT_TRUE(store.add_to_sample(part));
        expect_points(0, 7);
        part.metrics.clear();
        part.status = variant == std::string("rival") ? "ok" : "invalid";
        store.finish_sample(part);
    }
    expect_points(1, 7);
}

// As texts, "loss a=1 b=2", both are the same.
TEST_F(Selectors, LabelsThatReadAlikeStayApart) {
    const SampleSpec spec = store::testing::example_spec(99);
    store::Sample sample;
    sample.id = store.begin_sample(running, spec, store::testing::key_of(spec));
    sample.spec = spec;
    sample.status = "ok";
    sample.metrics = {{"loss", {{"a", "1 b=2"}}, 1}, {"loss", {{"a", "1"}, {"b", "2"}}, 2}};
    store.finish_sample(sample);
    const Arm arm = arm_of_sessions(registry, store, {running});
    ASSERT_EQ(arm.series.size(), 3u);
    for (const Series& series : arm.series) {
        EXPECT_EQ(series.name.profile, spec.profile);
        EXPECT_EQ(series.name.provenance, spec.provenance);
        EXPECT_EQ(series.name.scenario, spec.scenario);
        if (series.name.metric == "loss") {
            EXPECT_EQ(series.points.size(), 1u);
        }
    }
}

TEST_F(Selectors, ASessionOfBothSidesCountsOnce) {
    const auto ids_of = [](const Arm& arm) {
        std::set<std::string> ids;
        for (const ArmSession& session : arm.sessions) ids.insert(session.id);
        return ids;
    };
    const std::string all = "since:2000", latest = "latest";
    const Arms wide = read_arms(registry, store.path(), all, latest);
    const Arm everything = read_arm(registry, store.path(), all);
    ASSERT_EQ(wide.b.sessions.size(), 1u);
    EXPECT_EQ(wide.a.sessions.size() + 1, everything.sessions.size());
    EXPECT_FALSE(ids_of(wide.a).contains(wide.b.sessions[0].id));
    EXPECT_EQ(wide.note, "1 session of both sides counts in B only");
    const Arms swapped = read_arms(registry, store.path(), latest, all);
    EXPECT_EQ(ids_of(swapped.a), ids_of(wide.b));
    EXPECT_EQ(ids_of(swapped.b), ids_of(wide.a));
    const Arms one = read_arms(registry, store.path(), latest, latest);
    EXPECT_EQ(one.note, "A and B are the same session");
    EXPECT_EQ(ids_of(one.a), ids_of(one.b));
    EXPECT_EQ(read_arms(registry, store.path(), "latest~1", latest).note, "");
    EXPECT_EQ(read_arms(registry, store.path(), store.path().string(), store.path().string()).note,
              "A and B are the same file");
}

}  // namespace
}  // namespace assay::compare
