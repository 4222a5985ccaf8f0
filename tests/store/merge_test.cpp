// Results of several machines in one file.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "suite/store/ids.hpp"
#include "suite/store/nights.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(Merge, BringsEverythingOnceAndOnlyOnce) {
    Folder folder;
    std::string session, id;
    {
        auto other = Store::open(folder / "o ther?#%.db", Access::write);
        session = begin(other);
        id = other.begin_sample(session, example_spec(2), key_of(example_spec(2)));
        other.finish_sample(full_sample(id, session, example_spec(2)));
        other.put_claim_checks(session,
                               {{"a", ClaimVerdict::supported, "yes", Provenance::exact, 1.0}});
        other.annotate(id, "note");
        other.put_calibration({"hash", "cpu", {{"x", 1}}, {}, ""});
        other.set_baseline("theirs", session);
        other.finish_session(session, "finished");
    }
    auto store = Store::open(folder / "mine.db", Access::write);
    const auto own = begin(store);
    add_sample(store, own, example_spec(1));
    const auto first = store.merge(folder / "o ther?#%.db");
    EXPECT_EQ(first.sessions, 1);
    EXPECT_EQ(first.samples, 1);
    EXPECT_EQ(first.skipped, 0);
    const auto again = store.merge(folder / "o ther?#%.db");
    EXPECT_EQ(again.sessions, 0);
    EXPECT_EQ(again.samples, 0);
    EXPECT_EQ(again.skipped, 1);

    const auto got = store.sample(id), put = full_sample(id, session, example_spec(2));
    EXPECT_EQ(got.metrics.size(), put.metrics.size());
    EXPECT_EQ(got.events.size(), put.events.size());
    EXPECT_EQ(got.series_data.at(0).t_s, put.series_data.at(0).t_s);
    EXPECT_EQ(got.tables.at(0).rows, put.tables.at(0).rows);
    EXPECT_EQ(got.artifacts.at(0).bytes, put.artifacts.at(0).bytes);
    EXPECT_EQ(got.hardware.size(), put.hardware.size());
    EXPECT_EQ(got.series, store.samples(own).at(0).series) << "equal series are one series";
    EXPECT_EQ(store.newest_claim_checks().size(), 1u);
    EXPECT_EQ(store.annotations(id).size(), 1u);
    EXPECT_TRUE(store.calibration("hash").has_value());
    EXPECT_EQ(store.baselines().at(0).name, "theirs");
    const auto report = store.check();
    EXPECT_TRUE(report.ok) << report.problems.at(0);
}

TEST(Merge, KeepsTheOrderInWhichSessionsOfOneTimeCame) {
    Folder folder;
    const std::string then = "2026-11-01T00:00:00.000Z";
    std::vector<std::string> newest_first;
    const auto add = [&](Store& to) {
        newest_first.insert(newest_first.begin(), begin(to, then));
        to.finish_session(newest_first.front(), "finished");
    };
    auto store = Store::open(folder / "mine.db", Access::write);
    for (int i = 0; i < 4; ++i) add(store);
    {
        auto other = Store::open(folder / "other.db", Access::write);
        for (int i = 0; i < 6; ++i) add(other);
    }
    store.merge(folder / "other.db");
    store.merge(folder / "other.db");
    add(store);
    std::vector<std::string> ids;
    for (const Session& session : store.sessions()) ids.push_back(session.id);
    EXPECT_EQ(ids, newest_first);
}

TEST(Merge, SessionsFromElsewhereStandByTheirDates) {
    Folder folder;
    std::vector<std::string> theirs;
    {
        auto other = Store::open(folder / "other.db", Access::write);
        for (const char* date : {"2026-03-01T00:00:00.000Z", "2015-03-17T18:40:51.000Z",
                                 "2026-01-05T00:00:00.000Z", "2100-01-01T00:00:00.000Z"}) {
            theirs.push_back(begin(other, date));
            other.finish_session(theirs.back(), "finished");
        }
    }
    SQLite::Database((folder / "other.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE session SET finished = started");
    auto store = Store::open(folder / "mine.db", Access::write);
    const auto mine = [&](const std::string& started, const std::string& finished) {
        const std::string id = begin(store, started);
        store.finish_session(id, "finished");
        SQLite::Database((folder / "mine.db").string(), SQLite::OPEN_READWRITE)
            .exec("UPDATE session SET finished = '" + finished + "' WHERE id = '" + id + "'");
        return id;
    };
    const std::string first = mine("2026-02-01T00:00:00.000Z", "2026-02-01T01:00:00.000Z");
    store.merge(folder / "other.db");
    const std::string ahead = mine("2099-02-01T00:00:00.000Z", "2099-02-01T01:00:00.000Z");
    const std::string behind = mine("2000-02-01T00:00:00.000Z", "2000-02-01T01:00:00.000Z");
    std::vector<std::string> ids;
    for (const Session& session : store.sessions()) ids.insert(ids.begin(), session.id);
    EXPECT_EQ(ids, (std::vector<std::string>{theirs[1], theirs[2], first, theirs[0], ahead, behind,
                                             theirs[3]}))
        << "what is recorded after a merge is newer than all of it but dates in the future";
    EXPECT_EQ(store.places().at(theirs[1]), 1);
}

TEST(Merge, OfAMuteThatEndedThereEndsItHere) {
    Folder folder;
    auto other = Store::open(folder / "other.db", Access::write);
    Nights(other).mute({.pattern = "x", .why = "noisy", .who = "ada"});
    auto store = Store::open(folder / "mine.db", Access::write);
    store.merge(folder / "other.db");
    ASSERT_EQ(Nights(store).mutes().size(), 1u);
    EXPECT_EQ(Nights(store).mutes()[0].who, "ada");
    Nights(other).unmute("x", "", "bob", "quiet again");
    store.merge(folder / "other.db");
    EXPECT_TRUE(Nights(store).mutes().empty());
    EXPECT_EQ(Nights(store).all_mutes().at(0).ended_by, "bob");
}

TEST(Merge, OfAnUnfinishedSessionIsCompletedByALaterMerge) {
    Folder folder;
    auto other = Store::open(folder / "other.db", Access::write);
    const auto session = begin(other);
    add_sample(other, session, example_spec(1));
    add_sample(other, session, example_spec(2), 0, "failed");
    const auto running = other.begin_sample(session, example_spec(3), key_of(example_spec(3)));
    auto store = Store::open(folder / "mine.db", Access::write);
    EXPECT_EQ(store.merge(folder / "other.db").samples, 2);
    EXPECT_EQ(store.sessions().at(0).state, "interrupted");
    EXPECT_EQ(other.sessions().at(0).state, "running") << "the other file is only read";

    other.finish_sample(full_sample(running, session, example_spec(3)));
    const auto retried = add_sample(other, session, example_spec(2), 5);
    other.finish_session(session, "finished");
    EXPECT_EQ(store.merge(folder / "other.db").samples, 2);
    EXPECT_EQ(store.sessions().at(0).state, "finished");
    EXPECT_EQ(store.samples(session).size(), 3u);
    EXPECT_EQ(store.sample(retried).status, "ok")
        << "the successful attempt replaces the failed one";
    EXPECT_EQ(store.sample(running).status, "ok");
    EXPECT_TRUE(store.check().ok);
}

TEST(Merge, CarriesTheCalibrationThatSeriesName) {
    Folder folder;
    std::string session;
    const nlohmann::json parameters = {{"link", {{"value", 1e9}, {"kind", "assumed"}}}};
    const std::string hash = calibration_hash(parameters);
    {
        auto other = Store::open(folder / "other.db", Access::write);
        session = begin(other);
        other.put_calibration({hash, "lazarus/fig9", parameters, {}, ""});
        SeriesKey key = key_of(example_spec(1));
        key.calibration = hash;
        const auto id = other.begin_sample(session, example_spec(1), key);
        other.finish_sample(full_sample(id, session, example_spec(1)));
        other.finish_session(session, "finished");
    }
    auto store = Store::open(folder / "mine.db", Access::write);
    // The same sample under another calibration is of another series.
    const auto own = begin(store);
    add_sample(store, own, example_spec(1));
    EXPECT_EQ(store.merge(folder / "other.db").samples, 1);
    EXPECT_NE(store.samples(session).at(0).series, store.samples(own).at(0).series);
    ASSERT_TRUE(store.calibration(hash).has_value());
    EXPECT_EQ(store.calibration(hash)->parameters, parameters);
    EXPECT_TRUE(store.check().ok);
    SQLite::Database((folder / "mine.db").string(), SQLite::OPEN_READWRITE)
        .exec("DELETE FROM calibration");
    const auto report = store.check();
    ASSERT_EQ(report.problems.size(), 1u);
    EXPECT_NE(report.problems[0].find("names a calibration that is not there"), std::string::npos);
}

std::string gate_of(const std::filesystem::path& file) {
    SQLite::Database sql(file.string());
    std::string all;
    for (const char* rows :
         {"SELECT suite || verdict FROM night",
          "SELECT metric || profile || provenance FROM night_rows",
          "SELECT suite || state FROM regression", "SELECT why FROM regression_step",
          "SELECT why FROM accepted_level", "SELECT why FROM mute"}) {
        SQLite::Statement each(sql, rows);
        while (each.executeStep()) all += each.getColumn(0).getString() + ' ';
    }
    return all;
}

TEST(Merge, OfEverythingBringsTheGateToo) {
    Folder folder;
    std::string session;
    {
        auto other = Store::open(folder / "other.db", Access::write);
        session = begin(other);
        add_sample(other, session, example_spec(1));
        other.finish_session(session, "finished");
        RowId row = series_of(example_spec());
        row.metric = "rate";
        Nights nights(other);
        NightRecord night;
        night.id = new_uuid();
        night.suite = "s";
        night.machine = example_machine().fingerprint;
        night.session = session;
        night.verdict = "clean";
        night.id = nights.begin(night);
        nights.finish(night, nlohmann::json::object(), {{row, 1.5, "same"}},
                      {{row, "candidate", false, "slow"}});
        nights.accept({"b", row, session, "", "fine", ""});
        nights.mute({"x", "", "", "noisy", ""});
    }
    const auto change = [&](const std::string& text) {
        SQLite::Database((folder / "other.db").string(), SQLite::OPEN_READWRITE).exec(text);
    };
    change(
        "INSERT INTO night (id, suite, machine, session, program, started, finished, verdict) "
        "VALUES ('running', 'r', 'f1ng3r', NULL, '', '2', NULL, '')");
    auto store = Store::open(folder / "mine.db", Access::write);
    store.merge(folder / "other.db", {.sessions = {session}});
    EXPECT_EQ(gate_of(folder / "mine.db"), "") << "it is of no one session";
    for (int times = 0; times < 2; ++times) {
        store.merge(folder / "other.db");
        EXPECT_EQ(gate_of(folder / "mine.db"),
                  "sclean ratesmallemulated scandidate slow fine noisy ");
    }
    change(
        "UPDATE regression SET state = 'fixed', changed = '9';"
        "INSERT INTO regression_step SELECT id, 1, '9', NULL, 'fixed', 'fast' FROM regression");
    store.merge(folder / "other.db");
    EXPECT_EQ(gate_of(folder / "mine.db"), "sclean ratesmallemulated sfixed slow fast fine noisy ");
    EXPECT_TRUE(store.check().ok);
}

TEST(Merge, OfAMetricInAnotherUnitChangesNothing) {
    Folder folder;
    {
        auto other = Store::open(folder / "other.db", Access::write);
        add_sample(other, begin(other), example_spec(1));
        other.put_metric_units({{"lazarus/fig8", "throughput", "1/h", Direction::higher},
                                {"never/run", "throughput", "1/h", Direction::higher}});
    }
    auto store = Store::open(folder / "mine.db", Access::write);
    store.put_metric_units({{"lazarus/fig8", "throughput", "1/s", Direction::higher}});
    EXPECT_NE(error_of([&] {
                  store.merge(folder / "other.db");
              }).find("the metric 'throughput' of lazarus/fig8 is in '1/h' there and in '1/s'"),
              std::string::npos);
    EXPECT_TRUE(store.sessions().empty());
    store.put_metric_units({{"lazarus/fig8", "throughput", "1/h", Direction::none},
                            {"never/run", "throughput", "1/s", Direction::higher}});
    EXPECT_EQ(store.merge(folder / "other.db").samples, 1) << "of what comes in, units agree";
}

TEST(Merge, OfWhatIsNoResultsDatabaseChangesNothing) {
    Folder folder;
    auto store = Store::open(folder / "mine.db", Access::write);
    begin(store);
    std::ofstream(folder / "text") << "hello";
    Store::open(folder / "newer.db", Access::write);
    SQLite::Database((folder / "newer.db").string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA user_version = 99; INSERT INTO schema_version VALUES (99, 'x')");
    EXPECT_NE(error_of([&] { store.merge(folder / "text"); }).find("not an Assay database"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.merge(folder / "nothing"); }).find("there is no"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.merge(folder / "newer.db"); }).find("schema version 99"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.merge(folder / "mine.db"); }).find("into itself"),
              std::string::npos);
    EXPECT_EQ(store.sessions().size(), 1u);
    EXPECT_NO_THROW(begin(store)) << "the store goes on working";
}

}  // namespace
}  // namespace assay::store::testing
