// Nights that would be silently wrong, or green since nothing was looked at.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

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
    std::size_t sessions() const {
        return store::Store::open(database_file(), store::Access::read).sessions().size();
    }
    /// The benchmark program with another line of shell, which makes it another build.
    void rebuild_benchmark(const std::string& line) const {
        std::string text = fake_benchmark;
        text.insert(text.find('\n') + 1, line + '\n');
        write("fake_benchmark", text);
    }
    void use_program(const std::string& program) const {
        std::string text = suite_text;
        const std::string named = "\"fake_benchmark\"";
        text.replace(text.find(named), named.size(), '"' + program + '"');
        std::ofstream(folder / "tiny.toml") << text;
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
                HasSubstr("this is night 2 of 'tiny', which has no accepted level"));
    accept();
    EXPECT_EQ(nightly({"--require-baseline"}).exit_code, 0);
}

/// Whoever measures on this machine for a while.
class OtherRun {
  public:
    explicit OtherRun(const fs::path& lock)
        : fd_(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        EXPECT_EQ(::write(fd_, "process 7: assay run\n", 21), 21);
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        EXPECT_EQ(::fcntl(fd_, F_OFD_SETLK, &whole), 0);
    }
    ~OtherRun() { end(); }
    void end() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

  private:
    int fd_;
};

TEST_F(SilentNights, ANightWaitsForTheMachineThatAnotherRunHas) {
    OtherRun other(folder / "lock");
    EXPECT_THAT(refusal({"nightly", (folder / "tiny.toml").string(), "--wait", "0"}),
                HasSubstr("another measured run has this machine: process 7: assay run"));
    EXPECT_THAT(refusal({"nightly", (folder / "tiny.toml").string(), "--wait", "1s"}),
                AllOf(HasSubstr("after 1 s still"), Not(HasSubstr("until the machine is quiet"))));
    EXPECT_THAT(refusal({"nightly", (folder / "tiny.toml").string(), "--wait", "soon"}),
                HasSubstr("--wait 'soon'"));
    EXPECT_FALSE(fs::exists(folder / "results.db"));
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        other.end();
    });
    const Told told = night();
    later.join();
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_THAT(told.err, HasSubstr("waiting for the machine, which another measured run has: "
                                    "process 7: assay run (0 of at most 1800 s)"));
}

TEST_F(SilentNights, ASuiteIsNamedByItsFile) {
    EXPECT_THAT(refusal({"nightly", (folder / "tiny").string()}),
                HasSubstr("did you mean " + (folder / "tiny.toml").string() + "?"));
    EXPECT_THAT(refusal({"nightly", "mine"}), HasSubstr("SUITE.toml"));
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
    EXPECT_THAT(nightly({"--html", night + "/night.html"}).err,
                HasSubstr("night.html: the folder " + night + " does not exist; `mkdir -p "));
    EXPECT_FALSE(fs::exists(night));
    EXPECT_THAT(nightly({"--db", folder.path().string()}).err, HasSubstr("is a folder; name a"));
    EXPECT_THAT(nightly({"--db", night + "/n.db", "--dry-run"}).err,
                HasSubstr("cannot begin the results database"));
    fs::permissions(program_folder / "fake_benchmark", fs::perms::owner_read);
    EXPECT_THAT(nightly().err, HasSubstr("benchmark/fake: fake_benchmark cannot be executed"));
    fs::remove(program_folder / "fake_benchmark");
    EXPECT_THAT(nightly().err, HasSubstr("benchmark/fake: fake_benchmark is not there"));
    const Printed dry = nightly({"--dry-run"});
    EXPECT_EQ(dry.exit_code, 1);
    EXPECT_THAT(dry.err, HasSubstr("benchmark/fake"));
    EXPECT_EQ(dry.out, "") << "no plan of a night that cannot be given";
    write("fake_benchmark", fake_benchmark);
    use_program("/nonexistent/fake_benchmark");
    EXPECT_THAT(nightly().err, HasSubstr("benchmark/fake: /nonexistent/fake_benchmark is not "
                                         "there: a path means that file and no other"));
    use_program("nowhere/fake_benchmark");
    EXPECT_THAT(nightly().err, HasSubstr("is not there, seen from " + fs::current_path().string()));
    EXPECT_FALSE(fs::exists(database_file())) << "nothing ran";
}

/// Beside `assay` lies one of the same name, which fails.
TEST_F(SilentNights, AProgramNamedByItsPathIsThatFileAndIsKept) {
    const fs::path other = folder / "other";
    fs::create_directory(other);
    fs::copy_file(program_folder / "fake_benchmark", other / "fake_benchmark");
    write("fake_benchmark", "#!/bin/sh\nexit 3\n");
    use_program((other / "fake_benchmark").string());
    EXPECT_EQ(night().exit_code, 0);
    accept();
    std::ofstream(other / "fake_time") << "150";
    const json row_of_x = row(night().report, "benchmark/program", "real_time benchmark=BM_x/8");
    EXPECT_EQ(row_of_x["to"], "candidate") << "the kept program ran the file of now, not its own";
}

TEST_F(SilentNights, AReportOnStandardOutputStandsThereAlone) {
    const Printed xml = nightly({"--junit", "-", "--annotations"});
    EXPECT_EQ(xml.exit_code, 0);
    EXPECT_THAT(xml.out, ::testing::StartsWith("<?xml"));
    EXPECT_THAT(xml.out, ::testing::EndsWith("</testsuites>\n"));
    EXPECT_THAT(xml.err, HasSubstr("nothing is judged"));
    EXPECT_THAT(xml.err, HasSubstr("::"));
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
    const std::string html = (folder / "night.html").string();
    const Printed failed = nightly({"--junit", "/dev/full", "--html", html});
    EXPECT_EQ(failed.exit_code, 2);
    EXPECT_THAT(failed.err, HasSubstr("the night itself is stored"));
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
    EXPECT_EQ(renamed.exit_code, 2) << renamed.report.dump(1);
    const std::string warnings = renamed.report["warnings"].dump();
    EXPECT_THAT(warnings, HasSubstr("1 row has an open regression, but this suite does not run it "
                                    "any more: benchmark/fake BM_x/8"));
    EXPECT_THAT(warnings, HasSubstr("1 row of the level left this suite (or has another name now), "
                                    "and so judged by nothing: benchmark/fake BM_y"));
    EXPECT_EQ(assay_json({"regressions"}).at(0)["row"], "benchmark/fake BM_x/8");
    accept();
    EXPECT_TRUE(assay_json({"regressions"}).empty());
    const Told after = night();
    EXPECT_EQ(after.exit_code, 0);
    EXPECT_THAT(after.report["warnings"].dump(), Not(HasSubstr("left this suite")));
}

/// A pattern that matches several experiments leaves out what cannot be run.
TEST_F(SilentNights, WhatIsLeftOutKeepsItsRowsAndItsRegression) {
    std::string text = suite_text;
    text.replace(text.find("night/work"), 10, "night/*");
    std::ofstream(folder / "tiny.toml") << text;
    const fs::path corpus = folder / "corpus";
    const EnvironmentVariable input("ASSAY_TEST_INPUT", corpus.string());
    std::ofstream(corpus) << "some words";
    EXPECT_EQ(night().report["rows"].size(), 7u);
    accept();
    slow_build("left", 1.2);
    night();
    EXPECT_EQ(night().exit_code, 2);
    const EnvironmentVariable damaged("ASSAY_TEST_INPUT_SHA256", std::string(64, '0'));
    const Told without = night();
    EXPECT_EQ(without.exit_code, 2) << without.report.dump(1);
    EXPECT_EQ(without.report["rows"].size(), 7u);
    EXPECT_EQ(without.report["left_out"], json({"night/work"}));
    EXPECT_EQ(left(without.report)["to"], "confirmed");
    EXPECT_THAT(without.report["failures"].dump(),
                HasSubstr("night/work was left out (a warning says why): 4 rows of the level"));
    EXPECT_THAT(without.report["warnings"].dump(), Not(HasSubstr("in the baseline but not in")));
    EXPECT_THAT(refusal({"baseline", "accept", "tiny"}),
                HasSubstr("has no values of night/work left"));
    const Printed accepted = assay({"baseline", "accept", "tiny", "--even-if-failed"});
    EXPECT_THAT(accepted.out, HasSubstr("warning: still a regression, since that session has no "
                                        "values of it: night/work left"));
    const Told again = night();
    EXPECT_EQ(again.exit_code, 2) << "it is open until somebody says otherwise";
    EXPECT_EQ(again.report["left_out"], json({"night/work"}));
    EXPECT_THAT(again.report["warnings"].dump(), Not(HasSubstr("does not run it any more")));
    EXPECT_THAT(assay({"baseline", "accept", "tiny", "--even-if-failed"}).out,
                HasSubstr("still a regression"));
    EXPECT_EQ(night().exit_code, 2);
}

/// What it needs lies beside it, and is not kept.
TEST_F(SilentNights, AKeptBenchmarkThatCannotStartIsRunAgainAsItIsNow) {
    write("data", "its data");
    rebuild_benchmark("[ -f \"$(dirname \"$0\")/data\" ] || { echo no data >&2; exit 4; }");
    EXPECT_EQ(night().exit_code, 0);
    accept();
    write("fake_time", "150");
    const Told told = night();
    const json x = row(told.report, "benchmark/program", "real_time benchmark=BM_x/8");
    EXPECT_EQ(x["to"], "candidate") << x.dump(1);
    EXPECT_FALSE(x["rerun_paired"].get<bool>());
    EXPECT_THAT(told.report["warnings"].dump(),
                HasSubstr("the baseline's program, which was kept, gives no value of it any more"));
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
    EXPECT_EQ(life["state"], "candidate");
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
