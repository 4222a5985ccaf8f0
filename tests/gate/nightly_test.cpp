// Nights of a tiny suite, given as a user would: baseline, candidate, confirmation, acceptance,
// fixing, muting, a slow machine, a kill in between.
#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <sstream>

#include "suite/report/text/terminal_text.hpp"
#include "tests/gate/nightly_fixture.hpp"

namespace assay::testing {
namespace {

TEST_F(NightlyTest, TheFirstNightHasNothingToCompareWithAndSaysSo) {
    const Told first = night();
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.report["verdict"], "no-baseline");
    EXPECT_THAT(first.err,
                HasSubstr("results go to a new database, " + (folder / "results.db").string()));
    EXPECT_TRUE(first.report["baseline_session"].is_null());
    EXPECT_THAT(first.report["says"], HasSubstr("No accepted baseline yet"));
    EXPECT_EQ(first.report["rows"].size(), 6u);  // two variants, two metrics; two benchmarks
    EXPECT_EQ(row(first.report, "benchmark/program", "real_time benchmark=BM_x/8")["n_b"], 5);
    // A second night is not compared either: only a person makes a baseline.
    EXPECT_TRUE(night().report["baseline_session"].is_null());
    // A row's history is asked for by the name that reports print.
    EXPECT_THAT(assay({"history", "benchmark/*"}).out, HasSubstr("BM_x/8"));
    const json trends = assay_json({"history", "benchmark/* BM_x/*"});
    ASSERT_EQ(trends.size(), 1u) << trends.dump(1);
    EXPECT_EQ(trends[0]["points"].size(), 2u);
    EXPECT_THAT(assay({"history", "benchmark/* nothing"}).err, HasSubstr("no row is called"));
    EXPECT_THAT(assay({"compare", "latest~1", "latest"}).out, HasSubstr("BM_x/8"));
    EXPECT_THAT(assay({"compare", "latest~1", "latest", "--explain", "benchmark/fake BM_x/8"}).out,
                HasSubstr("pairs"));
    // Benchmarks are exported, too.
    EXPECT_THAT(assay_json({"export", "--json"}).dump(), HasSubstr("benchmark/program"));
    EXPECT_THAT(assay({"export", "--csv", "benchmark/*"}).out, HasSubstr("BM_x/8"));
    EXPECT_EQ(assay({"export", "--csv", "misspelt/*"}).exit_code, 1);
    // Ids that came from elsewhere may have blanks and brackets.
    write("b.json", R"({"benchmarks":[{"name":"BM_t<int, 8>[2]","real_time":3}]})");
    ASSERT_EQ(assay({"import", (program_folder / "b.json").string()}).exit_code, 0);
    EXPECT_EQ(assay_json({"history", "benchmark/BM_t<int, 8>[2] · real_time"}).size(), 1u);
    EXPECT_THAT(assay({"export", "--csv", "benchmark/BM_t<int, 8>[2]"}).out, HasSubstr(",s,3e-09"));
}

TEST_F(NightlyTest, ARowBelowItsLevelFailsTheFirstNightAlready) {
    std::string program = fake_benchmark;
    const std::string time = "\"time_unit\": \"ns\"";
    program.insert(program.find(time), "\"of_read\": 0.61, ");
    write("fake_benchmark", program);
    std::ofstream(folder / "tiny.toml")
        << suite_text << "[[level]]\nrow = \"benchmark/fake BM_x/*\"\nmetric = \"of_read\"\n"
        << "at_least = 0.7\n[[level]]\ngpu = \"H100\"\nrow = \"*\"\nmetric = \"of_read\"\n"
        << "at_least = 0.9\n";
    const Told first = night();
    EXPECT_EQ(first.exit_code, 2) << first.err;
    EXPECT_EQ(first.report["verdict"], "regression");
    ASSERT_EQ(first.report["below_level"].size(), 1u) << first.report.dump(1);
    EXPECT_THAT(first.report["below_level"][0].get<std::string>(),
                HasSubstr("0.61, at least 0.7 is expected"));
    EXPECT_EQ(row(first.report, "benchmark/program", "of_read benchmark=BM_x/8")["n_b"], 5);
}

TEST_F(NightlyTest, ALevelOfATimeIsAnUpperBoundInItsUnit) {
    const auto with_level = [&](const std::string& bound) {
        std::ofstream(folder / "tiny.toml")
            << suite_text << "[[level]]\nrow = \"night/work left *\"\nmetric = \"seconds\"\n"
            << bound << '\n';
        return std::vector<std::string>{"nightly", (folder / "tiny.toml").string(), "--no-doctor"};
    };
    EXPECT_THAT(refusal(with_level("at_least = 0.01")),
                AllOf(HasSubstr("tiny.toml:"), HasSubstr("of seconds less is better"),
                      HasSubstr("write at_most")));
    EXPECT_FALSE(fs::exists(folder / "results.db")) << "before anything runs";
    std::ofstream(folder / "counts.toml")
        << suite_text << "better = { GFLOPS = \"higher\" }\n"
        << "[[level]]\nrow = \"*\"\nmetric = \"GFLOPS\"\nat_most = 5\n";
    EXPECT_THAT(refusal({"nightly", (folder / "counts.toml").string()}),
                HasSubstr("of GFLOPS more is better"));
    EXPECT_EQ(assay(with_level("at_most = 0.2")).exit_code, 0);
    const Printed slow = assay(with_level("at_most = 0.05"));
    EXPECT_EQ(slow.exit_code, 2);
    EXPECT_THAT(slow.out, HasSubstr("s, at most 0.05 s is expected"));
}

TEST_F(NightlyTest, AMisspeltMetricWatchesNothing) {
    std::string text = suite_text;
    text.insert(text.find("patterns"), "metrics = [\"secnods\"]\n");
    std::ofstream(folder / "tiny.toml") << text;
    const Printed refused = assay({"nightly", (folder / "tiny.toml").string(), "--dry-run"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("secnods"));
    EXPECT_EQ(assay({"mute", "x", "--db", (folder / "none.db").string()}).exit_code, 1);
    EXPECT_FALSE(fs::exists(folder / "none.db"));
}

TEST_F(NightlyTest, FromCandidateToConfirmedToAccepted) {
    night();
    accept();
    const Told clean = night();
    EXPECT_EQ(clean.exit_code, 0) << clean.report.dump(1);
    EXPECT_EQ(left(clean.report)["verdict"], "same") << clean.report.dump(1);
    EXPECT_TRUE(regressions().empty());

    slow_build("left", 1.2);
    const Told seen = night();
    EXPECT_EQ(seen.exit_code, 0) << seen.report.dump(1);
    const json candidate = left(seen.report);
    EXPECT_EQ(candidate["to"], "candidate") << candidate.dump(1);
    EXPECT_TRUE(candidate["rerun_paired"].get<bool>());
    EXPECT_EQ(candidate["rerun"]["verdict"], "slower");
    EXPECT_EQ(row(seen.report, "night/work right", "seconds")["to"], nullptr);
    EXPECT_EQ(row(seen.report, "night/work left", "per_second")["to"], "candidate");

    const Told confirmed = night({"--junit", (folder / "night.xml").string(), "--markdown",
                                  (folder / "night.md").string(), "--html",
                                  (folder / "night.html").string(), "--annotations"});
    EXPECT_EQ(confirmed.exit_code, 2);
    EXPECT_EQ(left(confirmed.report)["to"], "confirmed");
    const std::string xml = contents(folder / "night.xml");
    EXPECT_THAT(xml, HasSubstr("failures=\"2\""));
    const auto time = xml.find("time=\"");
    EXPECT_GT(std::atof(xml.c_str() + time + 6), 0) << "of all";
    EXPECT_NEAR(std::atof(xml.c_str() + time + 6), confirmed.report["seconds"].get<double>(), 1e-3);
    EXPECT_GT(left(confirmed.report)["seconds"].get<double>(), 0);
    EXPECT_THAT(xml, HasSubstr("<failure type=\"regression\""));
    EXPECT_THAT(contents(folder / "night.md"), HasSubstr("❌ tiny: 2 confirmed regressions"));
    EXPECT_THAT(contents(folder / "night.html"), HasSubstr("v-regression"));
    EXPECT_THAT(confirmed.err, HasSubstr("::error title=night/work left"));

    const json lives = regressions();
    ASSERT_EQ(lives.size(), 2u);
    for (const json& life : lives) {
        EXPECT_EQ(life["state"], "confirmed");
        EXPECT_EQ(life["steps"].size(), 2u);
    }
    EXPECT_EQ(assay_json({"regressions"}).size(), 2u);

    // Four nights; the reruns of two of them are no nights.
    EXPECT_EQ(assay_json({"history", "night/work left *seconds"}).at(0)["points"].size(), 4u);
    EXPECT_THAT(assay({"compare", "baseline:tiny", "latest"}).out, HasSubstr("slower"));

    accept({"--why", "the new layout"});
    EXPECT_TRUE(assay_json({"regressions"}).empty());
    EXPECT_EQ(regressions().at(0)["state"], "accepted");
    const Told after = night();
    EXPECT_EQ(after.exit_code, 0);
    EXPECT_EQ(left(after.report)["verdict"], "same");

    slow_build("left", 1.0);
    const Told faster = night();
    EXPECT_EQ(faster.exit_code, 0);
    EXPECT_EQ(left(faster.report)["verdict"], "faster");
}

TEST_F(NightlyTest, TwoGoodNightsFixAConfirmedRegression) {
    night();
    accept();
    slow_build("left", 1.2);
    night();
    EXPECT_EQ(night().exit_code, 2);
    slow_build("left", 1.0);
    const Told back = night();
    EXPECT_EQ(back.exit_code, 2);  // one good night is an anecdote, too
    EXPECT_EQ(left(back.report)["to"], "confirmed");
    const Told fixed = night();
    EXPECT_EQ(fixed.exit_code, 0);
    EXPECT_EQ(left(fixed.report)["to"], "fixed");
}

TEST_F(NightlyTest, OneBadNightIsForgotten) {
    night();
    accept();
    slow_build("left", 1.2);
    EXPECT_EQ(left(night().report)["to"], "candidate");
    slow_build("left", 1.0);
    const Told after = night();
    EXPECT_EQ(after.exit_code, 0);
    EXPECT_TRUE(left(after.report)["to"].is_null());
    EXPECT_TRUE(assay_json({"regressions"}).empty());
    EXPECT_EQ(regressions().at(0)["state"], "taken back");
}

TEST_F(NightlyTest, AFileOfGoogleBenchmarkIsWatchedToo) {
    night();
    accept();
    write("fake_time", "150");
    const Told slow = night();
    const json x = row(slow.report, "benchmark/program", "real_time benchmark=BM_x/8");
    EXPECT_EQ(x["to"], "candidate") << x.dump(1);
    // The kept program found the kept benchmark, which is as fast as it was.
    EXPECT_TRUE(x["rerun_paired"].get<bool>());
    EXPECT_NEAR(x["rerun"]["ratio"].get<double>(), 1.5, 0.02);
    EXPECT_EQ(row(slow.report, "benchmark/program", "real_time benchmark=BM_y")["verdict"], "same");
}

TEST_F(NightlyTest, ASlowMachineIsNotTheCode) {
    night();
    accept();
    const EnvironmentVariable slow("ASSAY_TEST_MACHINE_FACTOR", "1.1");
    const Told told = night();
    const json left_row = left(told.report);
    EXPECT_EQ(left_row["verdict"], "slower");
    EXPECT_EQ(left_row["rerun"]["verdict"], "same") << left_row.dump(1);
    EXPECT_EQ(left_row["evidence"], "not again");
    EXPECT_TRUE(left_row["to"].is_null());
    EXPECT_THAT(told.report["warnings"].dump(), HasSubstr("the machine or its software"));
    EXPECT_EQ(told.exit_code, 0);
}

TEST_F(NightlyTest, WithoutTheOldProgramTheNewOneIsRunAgain) {
    night();
    accept();
    // A file where the kept programs were: they are gone, and none can be kept again.
    fs::remove_all(folder.path().string() + "/results.db.builds");
    std::ofstream(folder / "results.db.builds") << "in the way";
    slow_build("left", 1.2);
    const json left_row = left(night().report);
    EXPECT_FALSE(left_row["rerun_paired"].get<bool>());
    EXPECT_EQ(left_row["rerun"]["verdict"], "slower") << left_row.dump(1);
    EXPECT_FALSE(left_row["rerun"]["paired"].get<bool>());
    EXPECT_EQ(left_row["to"], "candidate");
}

TEST_F(NightlyTest, AKeptProgramThatWasCutOffIsNotRunAndThatIsSaid) {
    night();
    accept();
    for (const auto& build : fs::directory_iterator(folder / "results.db.builds"))
        fs::resize_file(build.path() / "assay", 1000);
    EXPECT_THAT(assay({"baseline", "show", "tiny"}).out, HasSubstr("damaged"));
    write("plug-in.so", "makes tonight's program another one");
    EXPECT_THAT(night().report["warnings"].dump(), HasSubstr("the baseline's program is not run"))
        << "before there is anything to rerun";
    slow_build("left", 1.2);
    const Told told = night();
    EXPECT_FALSE(left(told.report)["rerun_paired"].get<bool>());
    EXPECT_EQ(left(told.report)["rerun"]["verdict"], "slower") << "the new one is run again";
    const auto& warnings = told.report["warnings"];
    EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(),
                            [](const json& warning) {
                                return warning.get<std::string>().starts_with(
                                    "the baseline's program is not run again");
                            }),
              1)
        << warnings.dump(1);
}

TEST_F(NightlyTest, OtherDataThanTheBaselinesIsNotClean) {
    const fs::path corpus = folder / "corpus";
    const EnvironmentVariable input("ASSAY_TEST_INPUT", corpus.string());
    std::ofstream(corpus) << "some words";
    night();
    accept();
    EXPECT_EQ(night().exit_code, 0);
    std::ofstream(corpus) << "other words";
    slow_build("left", 1.5);
    const Told blind = night();
    EXPECT_EQ(blind.exit_code, 3) << blind.report.dump(1);
    EXPECT_EQ(left(blind.report)["verdict"], "not comparable");
    EXPECT_THAT(blind.report["warnings"].dump(),
                HasSubstr("4 rows are not compared, since data differs from the baseline: `assay "
                          "baseline accept tiny`"));
    accept();
    EXPECT_EQ(night().exit_code, 0);
}

TEST_F(NightlyTest, MutedRowsNeitherWarnNorFail) {
    night();
    accept();
    slow_build("left", 1.2);
    night();
    EXPECT_EQ(assay({"mute", "night/work left*", "--why", "known"}).exit_code, 0);
    EXPECT_THAT(assay({"mute"}).out, HasSubstr("known"));
    const Told muted = night();
    EXPECT_EQ(muted.exit_code, 0);
    EXPECT_TRUE(left(muted.report)["muted"].get<bool>());
    EXPECT_EQ(left(muted.report)["to"], "candidate") << "as it was";
    EXPECT_EQ(assay({"unmute", "night/work left*"}).exit_code, 0);
    EXPECT_EQ(assay({"unmute", "night/work left*"}).exit_code, 1);
    EXPECT_EQ(night().exit_code, 2) << "seen in a second night that judges it";
    // A mute that has run out.
    {
        store::Store store = store::Store::open(folder / "results.db", store::Access::write);
        store::Nights(store).mute({"night/*", "", "2020-01-01", "", ""});
    }
    EXPECT_EQ(night().exit_code, 2);
    for (const char* date : {"tomorrow", "2020-01-01", "2027-02-30", "2027-13-01"})
        EXPECT_EQ(assay({"mute", "night/*", "--until", date}).exit_code, 1) << date;
}

TEST_F(NightlyTest, AMuteHidesARegressionAndDoesNotEndIt) {
    night();
    accept();
    slow_build("left", 1.2);
    night();
    EXPECT_EQ(night().exit_code, 2);
    const json before = regressions();
    for (const char* how : {"--until", "unmute", "ignored by an older program"}) {
        std::vector<std::string> mute = {"mute", "night/work left*", "--why", how};
        const bool runs_out = how == std::string("--until");
        if (runs_out) mute.insert(mute.end(), {"--until", "2100-01-01"});
        ASSERT_EQ(assay(mute).exit_code, 0);
        const Told hidden = night();
        EXPECT_EQ(hidden.exit_code, 0) << hidden.report.dump(1);
        EXPECT_EQ(left(hidden.report)["to"], "confirmed");
        EXPECT_THAT(assay({"regressions"}).out, HasSubstr("now muted by"));
        SQLite::Database sql((folder / "results.db").string(), SQLite::OPEN_READWRITE);
        if (runs_out) {
            sql.exec("UPDATE mute SET until = '2026-01-01'");
        } else {
            ASSERT_EQ(assay({"unmute", "night/work left*"}).exit_code, 0);
        }
        if (how[0] == 'i') {
            sql.exec("UPDATE regression SET state = 'ignored'");
            sql.exec(
                "INSERT INTO regression_step SELECT regression, max(ordinal) + 1, max(at), night, "
                "'ignored', 'muted' FROM regression_step GROUP BY regression");
        }
        EXPECT_EQ(assay_json({"regressions"}).size(), 2u) << how;
        const Told again = night();
        EXPECT_EQ(again.exit_code, 2) << how;
        EXPECT_EQ(left(again.report)["from"], "confirmed") << how;
        EXPECT_EQ(left(again.report)["to"], "confirmed") << how;
    }
    const json after = regressions();
    ASSERT_EQ(after.size(), before.size()) << "none began anew";
    EXPECT_EQ(after[0]["opened"], before[0]["opened"]);
    // What the accepted level holds ends, muted or not.
    ASSERT_EQ(assay({"mute", "night/work left*"}).exit_code, 0);
    night();
    accept();
    ASSERT_EQ(assay({"unmute", "night/work left*"}).exit_code, 0);
    EXPECT_EQ(night().exit_code, 0);
    EXPECT_TRUE(assay_json({"regressions"}).empty());
}

TEST_F(NightlyTest, AnInterruptionOfTheRerunsGoesOnWhereItWas) {
    night();
    accept();
    slow_build("left", 1.2);
    const auto reruns = [&] {
        const auto store = store::Store::open(folder / "results.db", store::Access::read);
        std::vector<std::string> samples;
        for (const store::Session& session : store.sessions())
            if (session.suspects.contains(store::rerun_mark))
                for (const store::Sample& sample : store.samples(session.id))
                    if (sample.status == "ok") samples.push_back(sample.id);
        return samples;
    };
    std::vector<std::string> before;
    for (const int signal : {SIGINT, SIGKILL}) {
        const std::size_t done = before.size();
        const EnvironmentVariable slowly("ASSAY_TEST_SLOWLY", "1");
        const Printed cut =
            assay({"nightly", (folder / "tiny.toml").string(), "--no-doctor"}, [&](pid_t pid) {
                for (int i = 0; i < 1500 && reruns().size() < done + 3; ++i)
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                ::kill(pid, signal);
            });
        EXPECT_NE(cut.exit_code, 0);
        before = reruns();
        ASSERT_GE(before.size(), done + 3);
    }
    const Told told = night();
    EXPECT_EQ(left(told.report)["to"], "candidate") << told.report.dump(1);
    EXPECT_TRUE(left(told.report)["rerun_paired"].get<bool>());
    const std::vector<std::string> after = reruns();
    for (const std::string& sample : before) EXPECT_THAT(after, ::testing::Contains(sample));
    EXPECT_EQ(after.size(), 2 * left(told.report)["rerun"]["n_b"].get<std::size_t>())
        << "none was made twice";
    EXPECT_GT(told.report["seconds"].get<double>(), 0);
}

TEST_F(NightlyTest, OneRowIsAcceptedAlone) {
    night();
    accept();
    slow_build("left", 1.2);
    slow_build("right", 1.3);
    night();
    EXPECT_EQ(night().exit_code, 2);
    accept({"--series", "night/work left*"});
    const Told after = night();
    EXPECT_EQ(after.exit_code, 2);
    EXPECT_EQ(left(after.report)["verdict"], "same");
    EXPECT_EQ(row(after.report, "night/work right", "seconds")["to"], "confirmed");
    EXPECT_EQ(assay_json({"baseline", "show", "tiny"}).size(), 3u);
    EXPECT_EQ(assay({"baseline", "accept", "tiny", "--series", "nothing"}).exit_code, 1);
    EXPECT_EQ(assay_json({"baseline", "list"}).size(), 1u);
    const std::string suite = (folder / "tiny.toml").string();
    EXPECT_EQ(assay({"regressions", "--suite", suite}).exit_code, 0);
    EXPECT_EQ(assay_json({"baseline", "show", suite}).size(), 3u);
    EXPECT_EQ(assay({"baseline", "drop", suite}).exit_code, 0) << "its file names it, too";
    EXPECT_EQ(assay({"baseline", "drop", "tiny"}).exit_code, 1);
    EXPECT_THAT(assay({"baseline", "accept", suite}).out, HasSubstr("tiny: session "));
    EXPECT_THAT(assay({"baseline", "accept", "absent/tiny.toml"}).err,
                HasSubstr("there is no file absent/tiny.toml; give the suite's file, or its name"));
    EXPECT_EQ(assay({"baseline", "drop", "tiny"}).exit_code, 0);
    EXPECT_TRUE(night().report["baseline_session"].is_null());
}

TEST_F(NightlyTest, WhatItPrintsKeepsToTheColumns) {
    night();
    accept();
    slow_build("left", 1.2);
    const EnvironmentVariable narrow("COLUMNS", "70");
    const std::string suite = (folder / "tiny.toml").string();
    for (const char* how : {"--no-doctor", "--dry-run"}) {
        const Printed printed = assay({"nightly", suite, how});
        EXPECT_THAT(printed.out, HasSubstr("night/work left"));
        std::istringstream lines(printed.out);
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(report::display_width(line), 70U) << line;
    }
}

// One experiment at two profiles, each with settings, a history and regressions of its own.
TEST_F(NightlyTest, TwoProfilesOfOneExperimentShareNothing) {
    std::ofstream(folder / "tiny.toml") << R"(name = "tiny"
min_apart_h = 0
rounds = 5
control = false
[[experiment]]
patterns = ["night/work"]
axes = { n = 1 }
variants = ["left"]
metrics = ["seconds"]
margin = 0.02
[[experiment]]
patterns = ["night/work"]
profile = "small"
axes = { n = 1 }
variants = ["left"]
margin = 0.5
)";
    const auto at = [](const json& rows, const std::string& profile) {
        std::vector<json> found;
        for (const json& row : rows)
            if (row["id"]["profile"] == profile && row["metric"] == "seconds") found.push_back(row);
        EXPECT_EQ(found.size(), 1u) << profile << rows.dump(1);
        return found.empty() ? json::object() : found[0];
    };
    EXPECT_EQ(night().report["rows"].size(), 3u) << "one metric at toy, two at small";
    accept();
    slow_build("left", 1.2);
    const Told first = night();
    EXPECT_EQ(at(first.report["rows"], "toy")["to"], "candidate");
    EXPECT_EQ(at(first.report["rows"], "small")["verdict"], "same") << "within its margin";

    slow_build("left", 1);
    slow_build("left.small", 2);
    const Told second = night();
    EXPECT_TRUE(at(second.report["rows"], "toy")["to"].is_null()) << "not seen again";
    EXPECT_EQ(at(second.report["rows"], "small")["to"], "candidate") << second.report.dump(1);
    EXPECT_EQ(night().exit_code, 2);
    const json lives = regressions();
    EXPECT_EQ(at(lives, "toy")["state"], "taken back");
    EXPECT_EQ(at(lives, "small")["state"], "confirmed");
    EXPECT_THAT(assay({"regressions", "--all"}).out, HasSubstr("night/work left n=1 (small)"));

    EXPECT_EQ(assay({"mute", "* (toy)"}).exit_code, 0);
    EXPECT_EQ(night().exit_code, 2) << "the other profile is muted";
    EXPECT_EQ(assay({"mute", "* (small)"}).exit_code, 0);
    EXPECT_EQ(night().exit_code, 3) << "nothing is left to judge";
    EXPECT_EQ(assay({"unmute", "* (small)"}).exit_code, 0);
    accept({"--series", "night/work left n=1 (small)"});
    const json levels = assay_json({"baseline", "show", "tiny"});
    ASSERT_EQ(levels.size(), 3u);
    EXPECT_TRUE(levels[0]["id"].is_null()) << "everything";
    EXPECT_EQ(levels[1]["id"]["profile"], "small");
    EXPECT_EQ(levels[2]["id"]["profile"], "small");
    const Told after = night();
    EXPECT_EQ(after.exit_code, 0);
    EXPECT_EQ(at(after.report["rows"], "small")["verdict"], "same");
}

/// One benchmark of a program fails: the others keep their rows; new, it makes the night an error.
TEST_F(NightlyTest, ABenchmarkThatFailsTakesNoOtherRowWithIt) {
    std::string failing = fake_benchmark;
    const std::string good = R"("real_time": 7.0)", bad = R"("error_occurred": true)";
    failing.replace(failing.find(good), good.size(), bad);
    night();
    accept();
    write("fake_benchmark", failing);
    const Told broken = night({"--fresh"});
    EXPECT_EQ(broken.exit_code, 1) << broken.report.dump(1);
    EXPECT_THAT(broken.report["failures"].dump(), HasSubstr("benchmark/fake BM_y"));
    const std::string x = "real_time benchmark=BM_x/8", y = "real_time benchmark=BM_y";
    EXPECT_EQ(row(broken.report, "benchmark/program", y)["verdict"], "failed");
    EXPECT_EQ(row(broken.report, "benchmark/program", x)["verdict"], "same");
    accept({"--even-if-failed"});
    const Told again = night({"--fresh"});
    EXPECT_EQ(again.exit_code, 0) << again.report.dump(1);
    EXPECT_EQ(row(again.report, "benchmark/program", y)["verdict"], "failed before too");
    EXPECT_THAT(again.report["warnings"].dump(),
                HasSubstr("failed before too: benchmark/fake BM_y"));
    EXPECT_EQ(row(again.report, "benchmark/program", x)["verdict"], "same");
}

TEST_F(NightlyTest, ABenchmarkThatFailsInTheFirstNightIsNoSecret) {
    std::string failing = fake_benchmark;
    const std::string good = R"("real_time": 7.0)", bad = R"("error_occurred": true)";
    failing.replace(failing.find(good), good.size(), bad);
    write("fake_benchmark", failing);
    const Told first = night();
    EXPECT_EQ(first.exit_code, 1);
    EXPECT_THAT(first.report["failures"].dump(),
                HasSubstr("benchmark/fake BM_y: failed in 5 samples"));
}

TEST_F(NightlyTest, WhatCannotBeRunIsAnErrorUnlessSomethingIsConfirmed) {
    night();
    accept();
    write("fake_benchmark", "#!/bin/sh\nexit 3\n");
    const Told broken = night();
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_THAT(broken.report["failures"].dump(), HasSubstr("fake_benchmark"));
    EXPECT_EQ(left(broken.report)["verdict"], "same");
}

TEST_F(NightlyTest, AKilledNightGoesOn) {
    night();
    accept();
    killed_night();
    const Told told = night();
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(left(told.report)["n_b"], 5);
    EXPECT_EQ(told.report["nights_before"], 1);
    // It went on in the session that was killed.
    const store::Store store = store::Store::open(folder / "results.db", store::Access::read);
    EXPECT_EQ(store.sessions().size(), 2u);
}

/// The night of the candidate is over when it was killed, and its own begins when it goes on.
TEST_F(NightlyTest, ANightThatGoesOnCountsFromThen) {
    std::string text = suite_text;
    text.replace(text.find("min_apart_h = 0"), 15, "min_apart_h = 0.0005");  // two whole seconds
    std::ofstream(folder / "tiny.toml") << text;
    night();
    accept();
    slow_build("left", 1.2);
    EXPECT_EQ(left(night().report)["to"], "candidate");
    killed_night();
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    EXPECT_EQ(left(night().report)["to"], "confirmed");
}

TEST_F(NightlyTest, ADryRunRunsNothing) {
    const Printed printed = assay({"nightly", (folder / "tiny.toml").string(), "--dry-run"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("night/work"));
    EXPECT_FALSE(fs::exists(folder / "results.db"));
}

TEST_F(NightlyTest, AnnotationsAreKeptAndShown) {
    const std::string session = night().report["session"];
    EXPECT_EQ(assay({"annotate", session.substr(0, 8), "new power supply"}).exit_code, 0);
    EXPECT_THAT(assay({"annotate", session.substr(0, 8)}).out, HasSubstr("new power supply"));
    const json later = night().report;
    const std::string id = later["night"].get<std::string>().substr(0, 8);
    EXPECT_THAT(assay({"annotate", id}).out, HasSubstr("no note on " + id));
    EXPECT_EQ(assay({"annotate", id, "a storm"}).exit_code, 0);
    for (const std::string& of : {id, later["session"].get<std::string>()})
        EXPECT_THAT(assay({"annotate", of}).out, HasSubstr("a storm")) << of;
    EXPECT_EQ(assay({"annotate", "nosuch"}).exit_code, 1);
}

}  // namespace
}  // namespace assay::testing
