// Nights that would be silently wrong, or green since nothing was looked at.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/gate/nightly_fixture.hpp"

namespace assay::testing {
namespace {

class SilentNights : public NightlyTest {
  protected:
    std::string suite() const { return (folder / "tiny.toml").string(); }
    fs::path database_file() const { return folder / "results.db"; }
    fs::path builds() const { return folder / "results.db.builds"; }

    Printed nightly(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"nightly", suite(), "--no-doctor"});
        return assay(more);
    }
    /// What a command that must fail says.
    std::string refusal(const std::vector<std::string>& arguments) const {
        const Printed printed = assay(arguments);
        EXPECT_EQ(printed.exit_code, 1) << printed.out;
        return printed.err;
    }
    std::size_t sessions() const {
        return store::Store::open(database_file(), store::Access::read).sessions().size();
    }
    /// The benchmark program with another line of shell, which makes it another build.
    void rebuild_benchmark(const std::string& line) const {
        std::string text = fake_benchmark;
        text.insert(text.find('\n') + 1, line + '\n');
        write("fake_benchmark", text);
    }
    void rename_in_benchmark(const std::string& from, const std::string& to) const {
        std::string text = fake_benchmark;
        text.replace(text.find(from), from.size(), to);
        write("fake_benchmark", text);
    }
};

TEST_F(SilentNights, ARebuiltProgramBeginsANewNight) {
    night();
    accept();
    killed_night();
    rebuild_benchmark("# built anew");
    const Told told = night();
    EXPECT_EQ(told.exit_code, 0) << told.report.dump(1);
    EXPECT_THAT(told.report["warnings"].dump(),
                HasSubstr("does not go on: since then fake_benchmark was built anew"));
    EXPECT_THAT(told.err, HasSubstr("this is a new night")) << "at once, too";
    EXPECT_EQ(sessions(), 3u);
    EXPECT_EQ(left(told.report)["n_b"], 5);
    killed_night();
    write("plug-in.so", "another one");
    EXPECT_THAT(night().report["warnings"].dump(), HasSubstr("plug-in.so was built anew"));
    EXPECT_THAT(night().report["warnings"].dump(), Not(HasSubstr("does not go on")));
    accept();
}

TEST_F(SilentNights, OfTwoBuildsNothingIsJudgedAndTheyAreNoLevel) {
    night();
    accept();
    rebuild_benchmark("echo '#' >> \"$0\"");
    slow_build("left", 1.2);
    const Told mixed = night();
    EXPECT_EQ(mixed.exit_code, 1) << mixed.report.dump(1);
    EXPECT_THAT(mixed.report["failures"].dump(),
                HasSubstr("samples of two builds: benchmark/fake ran fake_benchmark in 5 builds"));
    EXPECT_TRUE(left(mixed.report)["to"].is_null());
    EXPECT_THAT(refusal({"baseline", "accept", "tiny"}), HasSubstr("of two builds"));
    // By hand there is nobody who looks: what its samples say is enough.
    ASSERT_EQ(assay({"run", "benchmark/program", "-a", "name=fake", "-a", "program=fake_benchmark",
                     "-a", "arguments=--one\\ argument", "--rounds", "2", "--no-doctor"})
                  .exit_code,
              0);
    const store::Store store = store::Store::open(database_file(), store::Access::read);
    EXPECT_THAT(refusal({"baseline", "accept", "tiny", "--session",
                         store.sessions().front().id.substr(0, 13)}),
                HasSubstr("of two builds"));
}

TEST_F(SilentNights, APlugInThatChangesDuringTheNightMakesTwoBuildsOfIt) {
    rebuild_benchmark("date +%N > \"$(dirname \"$0\")/plug-in.so\"");
    const Told mixed = night();
    EXPECT_EQ(mixed.exit_code, 1);
    EXPECT_THAT(mixed.report["failures"].dump(), HasSubstr("while it ran, plug-in.so was"));
    EXPECT_THAT(refusal({"baseline", "accept", "tiny"}), HasSubstr("of two builds"));
}

TEST_F(SilentNights, AMisspeltBaselineIsAnErrorThatNamesTheNearest) {
    EXPECT_THAT(refusal({"nightly", suite(), "--baseline", "tony"}), HasSubstr("does not exist"));
    night();
    EXPECT_THAT(refusal({"nightly", suite(), "--baseline", "tony"}), HasSubstr("nor any other"));
    accept();
    EXPECT_THAT(refusal({"nightly", suite(), "--baseline", "tony", "--dry-run"}),
                HasSubstr("no baseline 'tony'; did you mean 'tiny'?; known: tiny"));
    EXPECT_EQ(sessions(), 1u) << "nothing ran";
    EXPECT_EQ(night({"--baseline", "tiny"}).exit_code, 0);
    EXPECT_THAT(refusal({"baseline", "drop", "tony"}), HasSubstr("did you mean 'tiny'?"));
    EXPECT_THAT(refusal({"baseline", "show", "tony"}), HasSubstr("did you mean 'tiny'?"));
    EXPECT_THAT(refusal({"regressions", "--suite", "tony"}), HasSubstr("did you mean 'tiny'?"));
    const store::Store store = store::Store::open(database_file(), store::Access::read);
    EXPECT_THAT(assay({"baseline", "accept", "tony", "--session", store.sessions().front().id}).out,
                HasSubstr("no night of a suite 'tony' was ever run (did you mean 'tiny'?)"));
}

TEST_F(SilentNights, ALevelCanBeRequired) {
    EXPECT_THAT(nightly({"--require-baseline"}).err, HasSubstr("does not exist"));
    EXPECT_FALSE(fs::exists(database_file()));
    EXPECT_FALSE(fs::exists(builds()));
    const Printed first = nightly();
    EXPECT_EQ(first.exit_code, 0);
    EXPECT_THAT(first.out, HasSubstr("none, so nothing is judged"));
    EXPECT_THAT(first.err, HasSubstr("made the folder " + builds().string()));
    EXPECT_EQ(nightly({"--require-baseline"}).exit_code, 1);
    EXPECT_THAT(night().report["warnings"].dump(),
                HasSubstr("this is night 2 of 'tiny' and none was accepted"));
    accept();
    EXPECT_EQ(nightly({"--require-baseline"}).exit_code, 0);
}

TEST_F(SilentNights, ALostDatabaseIsNoFirstNight) {
    night();
    accept();
    const auto lose = [&] {
        for (const char* end : {"", "-wal", "-shm"}) fs::remove(database_file().string() + end);
    };
    lose();
    EXPECT_THAT(nightly().err, HasSubstr("the database was lost"));
    std::ofstream(database_file()).flush();
    EXPECT_THAT(nightly().err, HasSubstr("the database was lost")) << "an empty file is none";
    // Somebody ran something before the night.
    ASSERT_EQ(assay({"run", "night/work", "--rounds", "1", "--no-doctor"}).exit_code, 0);
    for (const auto& build : fs::directory_iterator(builds()))
        fs::last_write_time(build.path(),
                            fs::file_time_type::clock::now() - std::chrono::hours(24));
    const Printed told = nightly();
    EXPECT_EQ(told.exit_code, 1);
    EXPECT_THAT(told.err, HasSubstr("knows of no night"));
    fs::remove_all(builds());
    EXPECT_EQ(nightly().exit_code, 0) << "begun anew, on purpose";
}

TEST_F(SilentNights, WhatWouldFailAtTheEndIsRefusedAtTheBeginning) {
    const std::string file = (folder / "tiny.toml").string();
    EXPECT_THAT(nightly({"--junit", folder.path().string()}).err,
                HasSubstr("that is a folder; give a file in it"));
    EXPECT_THAT(nightly({"--html", file + "/night.html"}).err,
                HasSubstr("is a file, not a folder"));
    const std::string night = (folder / "night").string();
    EXPECT_THAT(nightly({"--html", night, "--junit", night}).err, HasSubstr("name the same file"));
    EXPECT_THAT(nightly({"--html", night + ".svg"}).err, HasSubstr("written as one of .html"));
    fs::permissions(program_folder / "fake_benchmark", fs::perms::owner_read);
    EXPECT_THAT(nightly().err, HasSubstr("benchmark/fake: fake_benchmark cannot be executed"));
    fs::remove(program_folder / "fake_benchmark");
    EXPECT_THAT(nightly().err, HasSubstr("benchmark/fake: fake_benchmark is not there"));
    const Printed dry = nightly({"--dry-run"});
    EXPECT_EQ(dry.exit_code, 1);
    EXPECT_THAT(dry.out, HasSubstr("benchmark/fake")) << "the plan is shown all the same";
    EXPECT_FALSE(fs::exists(database_file())) << "nothing ran";
}

TEST_F(SilentNights, AReportThatCannotBeWrittenDoesNotReplaceTheVerdict) {
    night();
    accept();
    const Printed clean = nightly({"--html", "/dev/full"});
    EXPECT_EQ(clean.exit_code, 1) << "a CI would go on without its report";
    EXPECT_THAT(clean.err, HasSubstr("--html: cannot write /dev/full"));
    EXPECT_THAT(clean.out, HasSubstr("Clean"));
    slow_build("left", 1.2);
    night();
    const std::string html = (folder / "deep" / "night.html").string();
    const Printed failed = nightly({"--junit", "/dev/full", "--html", html});
    EXPECT_EQ(failed.exit_code, 2);
    EXPECT_THAT(failed.err, HasSubstr("the night itself is stored"));
    EXPECT_THAT(failed.err, HasSubstr("made the folder " + (folder / "deep").string()));
    EXPECT_THAT(contents(html), HasSubstr("v-regression")) << "the others are written";
    EXPECT_EQ(assay_json({"regressions"}).size(), 2u);
}

TEST_F(SilentNights, RowsThatVanishOrGetAnotherNameAreTold) {
    night();
    accept();
    rename_in_benchmark("BM_y", "BM_z");
    const Told renamed = night();
    EXPECT_EQ(renamed.exit_code, 0);
    const std::string warnings = renamed.report["warnings"].dump();
    EXPECT_THAT(warnings, HasSubstr("1 row is in the baseline but not in this night, and so judged "
                                    "by nothing: benchmark/fake BM_y"));
    EXPECT_THAT(warnings, HasSubstr("1 row is not in the baseline, and so judged by nothing until "
                                    "accepted: benchmark/fake BM_z"));
    accept({"--series", "benchmark/fake BM_z"});
    EXPECT_THAT(night().report["warnings"].dump(), Not(HasSubstr("BM_z")));
    accept();
    EXPECT_TRUE(night().report["warnings"].empty());
}

TEST_F(SilentNights, ARegressionWhoseRowLeavesTheSuiteIsNotFixed) {
    night();
    accept();
    write("fake_time", "150");
    night();
    EXPECT_EQ(night().exit_code, 2);
    std::string text = suite_text;
    text.replace(text.find("\"fake\""), 6, "\"other\"");
    std::ofstream(folder / "tiny.toml") << text;
    const Told renamed = night();
    EXPECT_THAT(renamed.report["warnings"].dump(),
                HasSubstr("still open, but of rows that neither"));
    EXPECT_THAT(renamed.report["warnings"].dump(), HasSubstr("benchmark/fake BM_x/8"));
    EXPECT_EQ(assay_json({"regressions"}).at(0)["row"], "benchmark/fake BM_x/8");
    accept();
    EXPECT_TRUE(assay_json({"regressions"}).empty());
}

TEST_F(SilentNights, WhatHadNoValuesWhenItWasAcceptedIsSaid) {
    write("fake_benchmark", "#!/bin/sh\nexit 3\n");
    EXPECT_EQ(night().exit_code, 1);
    EXPECT_THAT(
        assay({"baseline", "accept", "tiny"}).out,
        HasSubstr("no values in that session, so that nothing judges them: benchmark/fake"));
}

TEST_F(SilentNights, AMuteIsNotReplacedUnreadAndNotForgotten) {
    night();
    accept();
    slow_build("left", 1.2);
    night();
    ASSERT_EQ(assay({"mute", "night/work left*", "--why", "issue 12"}).exit_code, 0);
    EXPECT_THAT(refusal({"mute", "night/work left*", "--why", "noisy"}),
                AllOf(HasSubstr("issue 12"), HasSubstr("--replace")));
    EXPECT_THAT(assay({"mute"}).out, HasSubstr("issue 12"));
    const Told muted = night({"--junit", (folder / "night.xml").string()});
    EXPECT_THAT(left(muted.report)["mute"].get<std::string>(), HasSubstr("issue 12"));
    EXPECT_THAT(contents(folder / "night.xml"), HasSubstr("issue 12"));
    const json life = regressions().at(0);
    EXPECT_EQ(life["state"], "ignored");
    EXPECT_THAT(life["steps"].back()["why"].get<std::string>(), HasSubstr("issue 12"));
    EXPECT_THAT(life["mutes"].dump(), HasSubstr("issue 12"));

    ASSERT_EQ(assay({"mute", "night/work left*", "--why", "noisy", "--replace"}).exit_code, 0);
    EXPECT_THAT(assay({"mute"}).out, Not(HasSubstr("issue 12")));
    EXPECT_THAT(assay({"regressions", "--all"}).out, HasSubstr("noisy"));
    ASSERT_EQ(assay({"unmute", "night/work left*", "--why", "mended"}).exit_code, 0);
    const json all = assay_json({"mute", "--all"});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]["why"], "issue 12");
    EXPECT_EQ(all[0]["ended_why"], "replaced");
    EXPECT_EQ(all[1]["ended_why"], "mended");
    EXPECT_FALSE(all[1]["holds"].get<bool>());
}

TEST_F(SilentNights, AMuteThatRanOutIsToldOnce) {
    night();
    accept();
    {
        store::Store store = store::Store::open(database_file(), store::Access::write);
        store::Nights(store).mute({.pattern = "night/work left*",
                                   .until = store::now_utc(),
                                   .why = "issue 12",
                                   .at = "2020-01-01",
                                   .who = "ada"});
    }
    const std::string told = night().report["warnings"].dump();
    EXPECT_THAT(told, HasSubstr("is no longer muted"));
    EXPECT_THAT(told, HasSubstr("issue 12): 2 rows are judged again"));
    EXPECT_THAT(night().report["warnings"].dump(), Not(HasSubstr("issue 12")));
}

TEST_F(SilentNights, OneNameOfARowServesEverywhere) {
    night();
    accept();
    slow_build("left", 1.2);
    write("fake_time", "150");
    night();
    std::vector<std::string> rows;
    for (const json& life : assay_json({"regressions"})) rows.push_back(life["row"]);
    EXPECT_THAT(rows, ::testing::UnorderedElementsAre("night/work left n=1 · seconds",
                                                      "night/work left n=1 · per_second",
                                                      "benchmark/fake BM_x/8"));
    for (const std::string& row : rows) {
        EXPECT_THAT(assay({"regressions"}).out, HasSubstr(row));
        const json trends = assay_json({"history", row});
        ASSERT_EQ(trends.size(), 1u) << row;
        EXPECT_EQ(trends[0]["row"], row);
        EXPECT_THAT(assay({"mute", row}).out, HasSubstr("so far 1 row: " + row));
    }
    const Told muted = night();
    EXPECT_EQ(muted.exit_code, 0);
    for (const json& row : muted.report["rows"])
        EXPECT_EQ(row["muted"].get<bool>(),
                  std::find(rows.begin(), rows.end(), row["row"]) != rows.end())
            << row["row"];
    accept({"--series", rows[0]});
    const json levels = assay_json({"baseline", "show", "tiny"});
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_EQ(levels[1]["row"], rows[0]);
    const Printed plan = nightly({"--dry-run"});
    EXPECT_THAT(plan.out, HasSubstr("benchmark/fake"));
    EXPECT_THAT(plan.out, Not(HasSubstr("program=")));
    EXPECT_EQ(assay_json({"history", "benchmark/fake"}).size(), 2u) << "the program as a whole";
}

// Files of Google Benchmark tell whole seconds.
TEST_F(SilentNights, ImportsOfOneDateStandInTheOrderInWhichTheyCame) {
    for (int i = 1; i <= 8; ++i) {
        const fs::path file = folder.path() / ("b" + std::to_string(i) + ".json");
        std::ofstream(file) << R"({"context":{"date":"2026-11-21T02:03:04+00:00","num_cpus":2},)"
                               R"("benchmarks":[{"name":"BM_q","run_type":"iteration",)"
                            << "\"real_time\":" << i << "}]}";
        ASSERT_EQ(assay({"import", file.string()}).exit_code, 0);
    }
    std::vector<double> values;
    const json trends = assay_json({"history", "benchmark/BM_q", "--metric", "real_time"});
    for (const json& point : trends.at(0)["points"])
        values.push_back(point["median"].get<double>() * 1e9);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(values.at(i), double(i + 1), 1e-6);
    const json rows = assay_json({"compare", "latest~1", "latest"});
    EXPECT_NEAR(rows.at(0)["ratio"].get<double>(), 8.0 / 7, 1e-9) << rows.dump(1);
}

}  // namespace
}  // namespace assay::testing
