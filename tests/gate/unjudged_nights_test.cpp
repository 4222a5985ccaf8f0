// Nights that judge less than it seems: rows whose level has no values, runs too close to be two
// nights, reruns without budget, rows that are all muted.
#include <gmock/gmock.h>

#include "suite/store/ids.hpp"
#include "tests/gate/nightly_fixture.hpp"

namespace assay::testing {
namespace {

using ::testing::AllOf;
using UnjudgedNights = NightlyTest;

TEST_F(UnjudgedNights, ANightInErrorIsAcceptedOnlyWhereThatIsSaid) {
    write("fake_benchmark", "#!/bin/sh\nexit 3\n");
    EXPECT_EQ(night().exit_code, 1);
    EXPECT_THAT(refusal({"baseline", "accept", "tiny"}),
                AllOf(HasSubstr("ended in error and has no values of benchmark/fake"),
                      HasSubstr("--even-if-failed")));
    EXPECT_THAT(assay({"baseline", "list"}).out, HasSubstr("no baselines yet"));
    const Printed accepted = assay({"baseline", "accept", "tiny", "--even-if-failed"});
    EXPECT_THAT(accepted.out, HasSubstr("is the level of everything, 4 rows"));
    EXPECT_THAT(accepted.out,
                HasSubstr("warning: no values in that session, so that nothing judges it until it "
                          "works and is accepted anew: benchmark/fake"));
    EXPECT_THAT(refusal({"baseline", "accept", "tiny", "--series", "benchmark/fake*"}),
                HasSubstr("has no values of benchmark/fake"));
    EXPECT_EQ(assay({"baseline", "accept", "tiny", "--series", "night/work left*"}).exit_code, 0)
        << "single rows that have values";

    const Told still = night();
    EXPECT_THAT(still.report["warnings"].dump(), HasSubstr("failed before too: benchmark/fake: "));
    EXPECT_THAT(still.report["warnings"].dump(),
                HasSubstr("not judged until it works and is accepted anew"));
    write("fake_benchmark", fake_benchmark);
    const Told mended = night({"--junit", (folder / "night.xml").string()});
    EXPECT_EQ(mended.exit_code, 0);
    EXPECT_THAT(mended.report["warnings"].dump(),
                HasSubstr("2 rows work tonight but failed when the level was accepted, and so "
                          "judged by nothing until accepted anew: benchmark/fake BM_x/8, "
                          "benchmark/fake BM_y"));
    const json y = row(mended.report, "benchmark/program", "real_time benchmark=BM_y");
    EXPECT_EQ(y["standing"], "not compared");
    EXPECT_THAT(y["reason"].get<std::string>(),
                HasSubstr("failed when the level was accepted, and works tonight"));
    EXPECT_THAT(contents(folder / "night.xml"),
                HasSubstr("<skipped message=\"failed when the level was accepted"));
    accept({"--series", "benchmark/fake BM_y"});
    EXPECT_EQ(row(night().report, "benchmark/program", "real_time benchmark=BM_y")["verdict"],
              "same");
}

/// BM_gpu beside BM_cpu, which skips itself where there is a file skip.now.
constexpr const char* skipping_benchmark = R"(#!/bin/sh
for argument; do case "$argument" in --benchmark_out=*) out=${argument#--benchmark_out=};; esac; done
gpu='"real_time": 100.0'
[ -f "$(dirname "$0")/skip.now" ] && gpu='"skipped": true, "skip_message": "driver 550 lacks it", "real_time": 0'
here=$(dirname "$0")
if [ -f "$here/fail.some" ]; then echo >> "$here/fail.some"; [ $(($(wc -l < "$here/fail.some") % 2)) = 1 ] && : > "$here/fail.now" || rm -f "$here/fail.now"; fi
[ -f "$here/fail.now" ] && gpu='"error_occurred": true, "error_message": "no device", "real_time": 0'
cat > "$out" <<END
{"context": {"num_cpus": 2}, "benchmarks": [
 {"name": "BM_gpu", "run_type": "iteration", $gpu, "time_unit": "ns"},
 {"name": "BM_cpu", "run_type": "iteration", "real_time": 7.$(($$ % 90 + 10)), "time_unit": "us"}]}
END
)";

TEST_F(UnjudgedNights, WhyABenchmarkSkippedItselfIsInTheNightsWords) {
    write("fake_benchmark", skipping_benchmark);
    night();
    accept();
    write("skip.now", "");
    const Told told = night({"--junit", (folder / "night.xml").string()});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    const std::string warnings = told.report["warnings"].dump();
    EXPECT_THAT(warnings, HasSubstr("benchmark/fake BM_gpu: skipped: driver 550 lacks it"));
    EXPECT_THAT(warnings, Not(HasSubstr("not in this night")));
    EXPECT_THAT(warnings, Not(HasSubstr("baseline accept")));
    EXPECT_EQ(row(told.report, "benchmark/program", "real_time benchmark=BM_gpu")["reason"],
              "skipped tonight: driver 550 lacks it");
    EXPECT_THAT(contents(folder / "night.xml"), HasSubstr("skipped tonight: driver 550 lacks it"));
    fs::remove(program_folder / "skip.now");
    write("fail.now", "");
    const Told failed = night();
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_THAT(failed.report["failures"].dump(),
                HasSubstr("every sample failed tonight: no device"));
}

TEST_F(UnjudgedNights, ABenchmarkThatFailsInSomeSamplesIsNamed) {
    write("fake_benchmark", skipping_benchmark);
    night();
    accept();
    write("fail.some", "");
    const Told told = night();
    const auto& warnings = told.report["warnings"];
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const auto& warning) {
        const std::string text = warning;
        return text.find("benchmark/fake BM_gpu: failed in ") == 0 &&
               text.find(" samples: no device") != std::string::npos;
    })) << warnings.dump(1);
}

TEST_F(UnjudgedNights, AFilterThatMatchesNothingIsSaid) {
    std::string text = suite_text;
    text.replace(text.find("--one argument"), 14, "--benchmark_filter=BM_nothing");
    std::ofstream(folder / "tiny.toml") << text;
    // As Google Benchmark does.
    write("fake_benchmark",
          "#!/bin/sh\nfor a; do case $a in --benchmark_out=*) : > ${a#*=};; esac; done\n"
          "echo Failed to match any benchmarks >&2\n");
    const Told told = night();
    EXPECT_EQ(told.exit_code, 1);
    EXPECT_THAT(told.report["failures"].dump(),
                HasSubstr("no benchmark matches --benchmark_filter=BM_nothing"));
}

TEST_F(UnjudgedNights, AfterItsBaselineWasDroppedANightJudgesNothing) {
    night();
    accept();
    slow_build("left", 1.2);
    night();
    EXPECT_EQ(night().exit_code, 2);
    ASSERT_EQ(assay({"baseline", "drop", "tiny"}).exit_code, 0);
    const Told told = night();
    EXPECT_EQ(told.exit_code, 0) << told.report.dump(1);
    EXPECT_EQ(told.report["verdict"], "no-baseline");
    EXPECT_TRUE(assay_json({"regressions"}).empty());
    EXPECT_EQ(night().exit_code, 0);
}

TEST_F(UnjudgedNights, ARegressionStaysOpenWhereTheAcceptedNightHasNoValuesOfIt) {
    night();
    accept();
    slow_build("left", 1.2);
    write("fake_time", "150");
    night();
    EXPECT_EQ(night().exit_code, 2);
    write("fake_benchmark", "#!/bin/sh\nexit 3\n");
    EXPECT_EQ(night().exit_code, 2);
    EXPECT_THAT(refusal({"baseline", "accept", "tiny"}),
                HasSubstr("has no values of benchmark/fake BM_x/8, benchmark/fake BM_y; what has"));
    const Printed accepted = assay({"baseline", "accept", "tiny", "--even-if-failed"});
    EXPECT_THAT(accepted.out, HasSubstr("warning: that night ended in a regression"));
    EXPECT_THAT(accepted.out, HasSubstr("no longer a regression: night/work left n=1 · seconds"));
    EXPECT_THAT(accepted.out, HasSubstr("warning: still a regression, since that session has no "
                                        "values of it: benchmark/fake BM_x/8"));
    const json open = assay_json({"regressions"});
    ASSERT_EQ(open.size(), 1u);
    EXPECT_EQ(open[0]["row"], "benchmark/fake BM_x/8");
    EXPECT_EQ(night().exit_code, 2);
    write("fake_benchmark", fake_benchmark);
    night();
    accept();
    EXPECT_TRUE(assay_json({"regressions"}).empty());
}

TEST_F(UnjudgedNights, AnOlderNightDoesNotHoldWhatWasSeenAfterIt) {
    const std::string before = night().report["session"];
    accept();
    ASSERT_EQ(assay({"run", "night/work", "-a", "n=1", "--rounds", "5", "--no-doctor"}).exit_code,
              0);
    const std::string by_hand =
        store::Store::open(folder / "results.db", store::Access::read).sessions().front().id;
    slow_build("left", 1.2);
    night();
    EXPECT_EQ(night().exit_code, 2);
    EXPECT_THAT(assay({"baseline", "accept", "tiny", "--session", before}).out,
                HasSubstr("warning: still a regression, since that session is older than it: "
                          "night/work left n=1 · seconds"));
    EXPECT_EQ(assay_json({"regressions"}).size(), 2u);
    EXPECT_THAT(assay({"baseline", "accept", "tiny", "--session", by_hand}).out,
                HasSubstr("warning: still a regression, since that session is older than it: "
                          "night/work left n=1 · seconds"));
    EXPECT_EQ(assay_json({"regressions"}).size(), 2u);
}

/// A session by hand says nothing about another machine.
TEST_F(UnjudgedNights, WhatAnotherMachineSawStaysOpen) {
    const json seen = left(night().report);
    accept();
    RowId row;
    row.experiment = "night/work";
    row.variant = "left";
    row.axes = {{"n", std::int64_t{1}}};
    row.metric = "seconds";
    row.profile = Profile::toy;
    row.provenance = Provenance::measured;
    ASSERT_EQ(to_json(row), seen["id"]);
    {
        store::Store store = store::Store::open(folder / "results.db", store::Access::write);
        store.put_machine({"another", json::object()});
        store::Session session = store.sessions().front();
        session.id = store::new_uuid();
        session.machine = "another";
        store.begin_session(session);
        store::Nights nights(store);
        store::NightRecord record{store::new_uuid(), "tiny", "another", session.id, "",
                                  session.started,   "",     "clean"};
        record.id = nights.begin(record);
        nights.finish(record, json::object(), {}, {{row, "candidate", true, "first seen"}});
    }
    ASSERT_EQ(assay({"run", "night/work", "-a", "n=1", "--rounds", "5", "--no-doctor"}).exit_code,
              0);
    std::string by_hand;
    for (const auto& session :
         store::Store::open(folder / "results.db", store::Access::read).sessions())
        if (session.command.find("run night/work") != std::string::npos) by_hand = session.id;
    ASSERT_FALSE(by_hand.empty());
    accept({"--session", by_hand});
    EXPECT_EQ(assay_json({"regressions"}).size(), 1u);
}

TEST_F(UnjudgedNights, TwoRunsWithinMinutesAreOneNight) {
    const std::string whole = suite_text, apart = "min_apart_h = 0\n";
    std::string hours_apart = whole;
    hours_apart.erase(hours_apart.find(apart), apart.size());
    std::ofstream(folder / "tiny.toml") << hours_apart;
    night();
    accept();
    slow_build("left", 1.2);
    EXPECT_EQ(left(night().report)["to"], "candidate");
    const Told again = night();
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_EQ(left(again.report)["to"], "candidate");
    EXPECT_THAT(left(again.report)["why"].get<std::string>(), HasSubstr("too soon"));
    std::ofstream(folder / "tiny.toml") << whole;
    EXPECT_EQ(night().exit_code, 2) << "where every run is a night";
    slow_build("left", 1);
    EXPECT_EQ(night().exit_code, 2);
    std::ofstream(folder / "tiny.toml") << hours_apart;
    EXPECT_EQ(night().exit_code, 2) << "two good runs within minutes fix nothing";
    std::ofstream(folder / "tiny.toml") << whole;
    EXPECT_EQ(night().exit_code, 0);
}

TEST_F(UnjudgedNights, ABudgetThatIsTooSmallIsSaidWithTheOneThatWouldDo) {
    night();
    accept();
    std::string text = suite_text;
    text.insert(text.find("rounds"), "rerun_budget_s = 0.001\n");
    std::ofstream(folder / "tiny.toml") << text;
    slow_build("left", 1.2);
    const Told first = night();
    EXPECT_THAT(first.report["warnings"].dump(),
                AllOf(HasSubstr("2 candidates are undecided, since the rerun budget of 0.001 s was "
                                "spent: night/work left n=1 · "),
                      Not(HasSubstr("its last round"))));
    EXPECT_TRUE(left(first.report)["budget_ended"].get<bool>());
    EXPECT_EQ(left(first.report)["standing"], "undecided");
    EXPECT_THAT(first.err, HasSubstr("Undecided: 2 (night/work left n=1 · "));
    const std::string second = night().report["warnings"].dump();
    const std::string says =
        "they had no verdict in the night before either: the budget is "
        "too small, rerun_budget_s = ";
    ASSERT_THAT(second, AllOf(HasSubstr(says), HasSubstr(" lets every one run to its last round")));
    const std::string enough = second.substr(second.find(says) + says.size());
    text.replace(text.find("0.001"), 5, enough.substr(0, enough.find(' ')));
    std::ofstream(folder / "tiny.toml") << text;
    const Told third = night();
    EXPECT_EQ(left(third.report)["to"], "candidate");
    EXPECT_THAT(third.report["warnings"].dump(), Not(HasSubstr("rerun budget")));
}

TEST_F(UnjudgedNights, ANightOfMutedRowsIsNoPass) {
    night();
    accept();
    ASSERT_EQ(assay({"mute", "*"}).exit_code, 0);
    const Told told = night({"--annotations"});
    EXPECT_EQ(told.exit_code, 3);
    EXPECT_THAT(told.report["says"], HasSubstr("0 of 6 rows compared; 6 muted"));
    EXPECT_TRUE(told.report["geometric_mean"].is_null());
    EXPECT_THAT(told.report["warnings"].dump(), HasSubstr("no pass (exit code 3)"));
    EXPECT_THAT(told.err, HasSubstr("::warning title=assay nightly tiny::Ambiguous: no row"));
}

}  // namespace
}  // namespace assay::testing
