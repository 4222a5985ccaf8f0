// Who runs a session, what becomes of it when its runner dies, how it goes on.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>

#include <set>

#include "suite/store/ids.hpp"
#include "suite/store/nights.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(Session, OfADeadRunnerIsInterruptedByTheNextWriter) {
    Folder folder;
    std::string session, done, unfinished;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        session = begin(store);
        done = add_sample(store, session, example_spec(1));
        unfinished = store.begin_sample(session, example_spec(2), key_of(example_spec(2)));
    }
    EXPECT_EQ(Store::open(folder / "r.db", Access::read).sessions().at(0).state, "running")
        << "readers change nothing";
    auto store = Store::open(folder / "r.db", Access::write);
    EXPECT_EQ(store.sessions().at(0).state, "interrupted");
    EXPECT_EQ(store.sample(unfinished).status, "interrupted");
    EXPECT_NE(store.sample(unfinished).reason, "");
    EXPECT_EQ(store.sample(done).status, "ok");
    EXPECT_EQ(store.sessions().at(0).finished, store.sample(unfinished).started);
}

TEST(Session, OfALivingRunnerIsLeftAlone) {
    Folder folder;
    auto runner = Store::open(folder / "r.db", Access::write);
    const auto session = begin(runner);
    const auto sample = runner.begin_sample(session, example_spec(), key_of(example_spec()));
    auto second = Store::open(folder / "r.db", Access::write);
    EXPECT_EQ(second.sessions().at(0).state, "running");
    EXPECT_EQ(second.sample(sample).status, "running");
    EXPECT_FALSE(second.newest_unfinished("plan", "build").has_value());
    EXPECT_NE(error_of([&] { second.resume_session(session); }).find("is being run by process"),
              std::string::npos);
    runner.finish_sample(full_sample(sample, session, example_spec()));
    EXPECT_EQ(second.sample(sample).status, "ok");
}

TEST(Session, ResumesWhereItStopped) {
    Folder folder;
    std::string session, failed;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        session = begin(store);
        add_sample(store, session, example_spec(1));
        failed = add_sample(store, session, example_spec(2), 0, "failed");
        store.annotate(failed, "cable");
        store.begin_sample(session, example_spec(3), key_of(example_spec(3)));
    }
    auto store = Store::open(folder / "r.db", Access::write);
    EXPECT_FALSE(store.newest_unfinished("plan", "other build").has_value());
    EXPECT_FALSE(store.newest_unfinished("other plan", "build").has_value());
    ASSERT_EQ(store.newest_unfinished("plan", "build")->id, session);
    store.resume_session(session);
    EXPECT_EQ(store.sessions().at(0).state, "running");
    EXPECT_NE(error_of([&] { add_sample(store, session, example_spec(1)); }).find("already"),
              std::string::npos)
        << "a finished sample is not run twice";
    add_sample(store, session, example_spec(2), 7);
    add_sample(store, session, example_spec(3), 8);
    store.finish_session(session, "finished");

    const auto samples = store.samples(session);
    ASSERT_EQ(samples.size(), 3u);
    for (const auto& sample : samples) {
        EXPECT_EQ(sample.status, "ok");
        EXPECT_NE(sample.id, failed) << "the new attempt takes its place";
    }
    EXPECT_NE(store.annotations(session).at(0).text.find("cable"), std::string::npos)
        << "what a person wrote outlives the attempt";
    EXPECT_FALSE(store.newest_unfinished("plan", "build").has_value());
    EXPECT_TRUE(store.check().ok);
}

TEST(Session, ItsSamplesLieTogetherInTheFile) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    std::set<std::string> ids;
    for (int i = 0; i < 20; ++i) ids.insert(add_sample(store, session, example_spec(i)));
    EXPECT_EQ(ids.size(), 20u);
    for (const auto& id : ids) EXPECT_EQ(id.substr(0, 2), session.substr(0, 2));
    EXPECT_EQ(new_uuid_beside("x").size(), new_uuid().size()) << "no UUID to stand beside";
}

TEST(Session, WhatNamesASampleAsWellIsNotGuessed) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    for (int i = 0; i < 2; ++i)
        store.begin_sample(session, example_spec(i), key_of(example_spec(i)));
    store.annotate(session.substr(0, 8), "of the session");
    {
        SQLite::Database sql((folder / "r.db").string(), SQLite::OPEN_READWRITE, 10'000);
        SQLite::Statement rename(sql, "UPDATE sample SET id = ? || substr(id, 7)");
        rename.bind(1, session.substr(0, 6));
        EXPECT_EQ(rename.exec(), 2);
    }
    EXPECT_NE(error_of([&] { store.annotate(session.substr(0, 6), "?"); }).find("both a session"),
              std::string::npos);
    store.annotate(session, "of the session");
    EXPECT_EQ(store.annotations(session).size(), 2u);
}

TEST(Session, TheLastToBeRecordedIsTheNewestWhateverTheClockSays) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    std::vector<std::string> recorded;
    for (const char* date :
         {"2031-01-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z", "2000-01-01T00:00:00.000Z"}) {
        recorded.push_back(begin(store, date));
        add_sample(store, recorded.back(), example_spec(1), double(recorded.size()),
                   recorded.size() == 2 ? "failed" : "ok");
        store.finish_session(recorded.back(), "interrupted");
    }
    SQLite::Database((folder / "r.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE session SET finished = started");
    const auto newest_first = [&] {
        std::vector<std::string> ids;
        for (const Session& session : store.sessions()) ids.push_back(session.id);
        return ids;
    };
    EXPECT_EQ(newest_first(), (std::vector<std::string>{recorded[2], recorded[1], recorded[0]}));
    EXPECT_EQ(store.newest_unfinished("plan", "build").value().id, recorded[2]);
    EXPECT_EQ(store.observations("lazarus/fig8").at(0).value, 3);
    EXPECT_EQ(store.sample_counts().at(0).newest, recorded[2]);
    EXPECT_EQ(store.histories("lazarus/fig8").at(0).points.back().session, recorded[2]);
    EXPECT_TRUE(store.unsuccessful_samples("lazarus/fig8").empty());
    store.resume_session(recorded[1]);
    EXPECT_EQ(newest_first()[0], recorded[1]) << "it runs";
    store.finish_session(recorded[1], "finished");
    EXPECT_EQ(newest_first()[0], recorded[1]) << "it ended last";
}

TEST(Nights, WhatIsWrittenAfterTheClockWasSetBackIsTheNewest) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    Nights nights(store);
    const auto old_level = begin(store), level = begin(store);
    const NightRecord night{.id = new_uuid(),
                            .suite = "s",
                            .machine = example_machine().fingerprint,
                            .session = old_level,
                            .started = now_utc()};
    nights.begin(night);
    const RowId row = row_id(key_of(example_spec()), {"throughput", {}});
    nights.finish(night, nlohmann::json::object(), {}, {{row, "candidate", true, "seen"}});
    nights.accept({"s", std::nullopt, old_level, "", "", ""});
    store.put_claim_checks("", {{"a/b/c", ClaimVerdict::undecided, "old", {}, {}}});
    SQLite::Database((folder / "r.db").string(), SQLite::OPEN_READWRITE)
        .exec(
            "UPDATE accepted_level SET at = '2031-01-01T00:00:00.000Z';"
            "UPDATE claim_check SET at = '2031-01-01T00:00:00.000Z';"
            "UPDATE regression SET opened = '2031-01-01T00:00:00.000Z', changed = opened");
    nights.accept({"s", std::nullopt, level, "", "", ""});
    EXPECT_EQ(nights.levels("s").back().session, level);
    store.put_claim_checks("", {{"a/b/c", ClaimVerdict::undecided, "new", {}, {}}});
    EXPECT_EQ(store.newest_claim_checks().at(0).check.reason, "new");
    nights.finish(night, nlohmann::json::object(), {}, {{row, "candidate", true, "seen anew"}});
    nights.finish(night, nlohmann::json::object(), {}, {{row, "confirmed", false, "again"}});
    const auto records = nights.regressions("s", "");
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].state, "candidate");
    EXPECT_EQ(records[1].state, "confirmed");
}

TEST(Dates, InTheFutureAreToldFromWhatClocksDifferBy) {
    const auto in = [](std::chrono::minutes later) {
        return utc(std::chrono::system_clock::now() + later);
    };
    EXPECT_NE(future_words("2100-01-02T03:04:05.678Z").find("2100-01-02 03:04, in the future"),
              std::string::npos);
    EXPECT_NE(future_words(in(std::chrono::minutes(30))), "");
    EXPECT_EQ(future_words(in(std::chrono::minutes(2))), "");
    EXPECT_EQ(future_words(now_utc()), "");
    EXPECT_EQ(future_words("tomorrow"), "");
    EXPECT_EQ(utc_after("2100-01-02T03:04:05.999Z"), "2100-01-02T03:04:06.000Z");
    EXPECT_LE(now_utc(), utc_after("2000-01-01T00:00:00.000Z"));
}

TEST(Session, ASampleRunningTwiceIsRefused) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    store.begin_sample(session, example_spec(), key_of(example_spec()));
    EXPECT_NE(error_of([&] {
                  store.begin_sample(session, example_spec(), key_of(example_spec()));
              }).find("running"),
              std::string::npos);
    auto next_round = example_spec();
    next_round.round = 1;
    EXPECT_NO_THROW(store.begin_sample(session, next_round, key_of(next_round)));
}

TEST(Session, EndingItInterruptsWhatStillRuns) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    const auto sample = store.begin_sample(session, example_spec(), key_of(example_spec()));
    EXPECT_NE(error_of([&] { store.finish_session(session, "running"); }), "");
    EXPECT_NE(error_of([&] { store.finish_session("nobody", "finished"); }).find("no session"),
              std::string::npos);
    store.finish_session(session, "interrupted");
    EXPECT_EQ(store.sample(sample).status, "interrupted");
    EXPECT_EQ(store.newest_unfinished("plan", "build")->id, session);
}

TEST(Session, NeedsItsMachine) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    EXPECT_NE(error_of([&] { store.begin_session(example_session()); }).find("f1ng3r"),
              std::string::npos);
}

TEST(Session, EqualSeriesHaveEqualIdsInEveryFile) {
    Folder folder;
    std::vector<std::string> ids;
    for (const char* name : {"a.db", "b.db"}) {
        auto store = Store::open(folder / name, Access::write);
        const auto session = begin(store);
        ids.push_back(store.sample(add_sample(store, session, example_spec(1))).series);
        EXPECT_EQ(store.sample(add_sample(store, session, example_spec(2))).series, ids.back())
            << "seeds share one";
        EXPECT_NE(store.sample(add_sample(store, session, example_spec(1, "ds"))).series,
                  ids.back());
    }
    EXPECT_EQ(ids[0], ids[1]);
}

TEST(Mutes, AreReplacedAndEndedButNotForgotten) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    Nights nights(store);
    nights.mute({.pattern = "x", .until = "2020-01-01", .why = "ran out", .at = "2019"});
    nights.mute({.pattern = "x", .why = "first", .at = "2021", .who = "ada"});
    nights.mute({.pattern = "x", .why = "second", .at = "2022", .who = "bob"});
    const auto all = nights.all_mutes();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].ended, "") << "nobody ended what had run out";
    EXPECT_FALSE(holds(all[0], "2021"));
    EXPECT_EQ(all[1].ended, "2022");
    EXPECT_EQ(all[1].ended_by, "bob");
    EXPECT_EQ(all[1].ended_why, "replaced");
    EXPECT_TRUE(holds(all[2], "2023"));
    EXPECT_TRUE(nights.unmute("x", "", "eve", "quiet"));
    EXPECT_FALSE(nights.unmute("x", ""));
    EXPECT_EQ(nights.all_mutes().at(2).ended_why, "quiet");
}

TEST(Sessions, LearnASuspectLater) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto id = begin(store);
    store.add_suspect(id, mixed_mark, "two \"builds\"");
    store.add_suspect(id, "commit of a.b[0] \"c\"", "abc");
    EXPECT_EQ(store.session(id)->suspects.at(mixed_mark), "two \"builds\"");
    EXPECT_EQ(store.session(id)->suspects.at("commit"), "abc");
    EXPECT_EQ(store.session(id)->suspects.at("commit of a.b[0] \"c\""), "abc");
}

}  // namespace
}  // namespace assay::store::testing
