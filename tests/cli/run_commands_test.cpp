// Commands that run something: run, reproduce, highlights, replay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/base/processes.hpp"
#include "tests/cli/program_test.hpp"
#include "tests/measure/machine_folder.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RunCommandsTest : public ProgramTest {
  protected:
    RunCommandsTest() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}
};

TEST_F(RunCommandsTest, ARunShowsItsFigureAndWhereTheRestIs) {
    const std::string out = assay({"run", "dummy/sum", "-a", "n=2,3"}).out;
    EXPECT_THAT(
        out,
        AllOf(HasSubstr("\nsamples  6 ok\n"),
              HasSubstr("picture  assay report dummy/sum -o sum.svg\n"),
              HasSubstr("claims   1 of 2 checked hold, 1 contradicted (assay claims dummy/sum)\n"),
              Not(HasSubstr("claimed is"))));
    const std::string all = assay({"run", "dummy/sum", "--all-metrics"}).out;
    EXPECT_THAT(all, HasSubstr("seed_seen"));
    const std::string picture = (folder / "sum.svg").string();
    EXPECT_EQ(assay({"report", "dummy/sum", "-o", picture}).exit_code, 0);
    EXPECT_THAT(contents(picture), StartsWith("<svg"));
    EXPECT_THAT(assay({"report", "dummy/sum", "--text"}).out, HasSubstr("seed_seen"));
    // Where it is not the usual database, the commands say so.
    const std::string other = (folder / "other.db").string();
    EXPECT_THAT(assay({"run", "dummy/sum", "--db", other}).out,
                HasSubstr("-o sum.svg --db " + other + "\n"));
}

TEST_F(RunCommandsTest, ADefaultRunSaysHowManyRoundsItMayTakeAndTakesEnough) {
    const EnvironmentVariable budget("ASSAY_ROUNDS_BUDGET", "60");
    const Printed printed = assay({"run", "dummy/behave", "--no-doctor"});
    EXPECT_THAT(printed.err, HasSubstr("Rounds go on until two such runs could tell 5 % apart, at "
                                       "most 100 of a case and 60 s of an experiment; --rounds N "
                                       "takes so many."));
    EXPECT_THAT(printed.out, HasSubstr("\nsamples  5 ok\n")) << "equal values need no more";
    EXPECT_THAT(assay({"run", "dummy/behave", "--no-doctor", "--rounds", "1"}).err,
                Not(HasSubstr("Rounds go on")));
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, Not(HasSubstr("Rounds go on"))) << "exact";
}

TEST_F(RunCommandsTest, NoTableWithoutAFinishedSample) {
    const Printed failed = assay({"run", "dummy/behave", "-a", "how=throw"});
    EXPECT_THAT(failed.out, AllOf(HasSubstr("[measured, toy]\nno finished sample\n"),
                                  Not(HasSubstr("variant  "))));
    EXPECT_THAT(assay({"run", "dummy/behave", "-a", "how=throw,well"}).out,
                Not(HasSubstr("no finished sample")));
}

TEST_F(RunCommandsTest, ExitCodeTellsFailureAndLackOfSupport) {
    const Printed failed = assay({"run", "dummy/behave", "-a", "how=throw,well"});
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_THAT(failed.out, HasSubstr("the experiment gave up"));
    EXPECT_EQ(assay({"run", "dummy/behave", "-a", "how=unsupported"}).exit_code, 4);
    EXPECT_EQ(assay({"run", "dummy/behave", "-a", "how=invalid"}).exit_code, 0);
    EXPECT_EQ(assay({"run", "dummy/behave", "-a", "how=invalid", "--gate"}).exit_code, 3);
}

TEST_F(RunCommandsTest, GateTurnsAContradictedClaimIntoExitCodeTwo) {
    EXPECT_EQ(assay({"run", "dummy/sum"}).exit_code, 0);
    EXPECT_EQ(assay({"run", "dummy/sum", "--gate"}).exit_code, 2);
    EXPECT_EQ(assay({"claims"}).exit_code, 0);
    EXPECT_EQ(assay({"claims", "--gate"}).exit_code, 2);
    EXPECT_EQ(assay({"claims", "dummy/sum/twice", "--gate"}).exit_code, 0);
    EXPECT_EQ(assay({"claims", "--gate", "--verdict", "supported"}).exit_code, 2)
        << "what is shown is not what is judged";
}

TEST_F(RunCommandsTest, EachFaultPlanIsToldOnceBeforeItStrikes) {
    const Printed own = assay({"run", "dummy/behave", "--rounds", "2", "--fault",
                               "kill:rank=0@step=1", "--fault", "hang:rank=1@step=2,for=3"});
    EXPECT_EQ(own.exit_code, 0) << own.err;
    const std::string told = "faults: kill:rank=0@step=1; hang:rank=1@step=2,for=3\n";
    EXPECT_THAT(assay({"run", "dummy/behave", "--rounds", "2", "--fault",
                       "kill:rank=0@step=1; hang:rank=1@step=2,for=3"})
                    .err,
                HasSubstr(told))
        << "as it is printed";
    EXPECT_EQ(assay({"run", "dummy/behave", "--fault", " ; "}).exit_code, 1);
    const auto at = own.err.find(told);
    ASSERT_NE(at, std::string::npos) << own.err;
    EXPECT_LT(at, own.err.find("[1/2"));
    EXPECT_EQ(own.err.find("faults:", at + 1), std::string::npos) << own.err;
    EXPECT_THAT(assay({"run", "dummy/behave", "--json"}).err,
                HasSubstr("faults: kill:rank=1@step=5\n"));
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, Not(HasSubstr("faults:")));
}

TEST_F(RunCommandsTest, ScenarioMistakesNameFileAndLine) {
    const auto file = folder / "scenario.toml";
    std::ofstream(file) << "[[fault]]\nkind = \"kill\"\nrank = \n";
    const Printed printed = assay({"run", "dummy/behave", "--scenario", file.string()});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.err, AllOf(StartsWith("assay: "), HasSubstr("scenario.toml:3")));
}

TEST_F(RunCommandsTest, EventsAreJsonLinesFromBeginningToEnd) {
    const Printed printed =
        assay({"run", "dummy/sum", "-a", "n=2", "--events", "jsonl", "--rounds", "2"});
    EXPECT_EQ(printed.exit_code, 0);
    std::istringstream lines(printed.out);
    std::vector<json> events;
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
    ASSERT_GE(events.size(), 3U);
    EXPECT_EQ(events.front()["kind"], "session");
    EXPECT_EQ(events.back()["kind"], "finished");
    EXPECT_EQ(events.back()["done"], 6);
    long finished = 0;
    for (const json& event : events) finished += event["kind"] == "sample_finished";
    EXPECT_EQ(finished, 6);
}

TEST_F(RunCommandsTest, OptionsThatWouldCountForNothingAreRefused) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> alone = {
        {{"--margin", "2%"}, "--margin without --until-decided"},
        {{"--budget", "1m"}, "--budget without --until-decided"},
        {{"--max-rounds", "5"}, "--max-rounds without --until-decided"},
        {{"--against", "a", "--metric", "total"}, "--against, --metric without --until-decided"},
        {{"--dry-run", "--events", "jsonl"}, "--dry-run runs nothing"},
        {{"--no-doctor", "--settle", "3"}, "--no-doctor excludes --settle"}};
    for (const auto& [options, told] : alone) {
        std::vector<std::string> typed{"run", "dummy/sum"};
        typed.insert(typed.end(), options.begin(), options.end());
        const Printed printed = assay(typed);
        EXPECT_EQ(printed.exit_code, 1) << told;
        EXPECT_THAT(printed.err, HasSubstr(told));
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db")) << "nothing was run";
}

TEST_F(RunCommandsTest, CtrlCStopsCleanlyAndTheSameCommandGoesOn) {
    // Without the doctor it waits for nobody else's programs.
    const std::vector<std::string> command{"run",      "dummy/behave", "-a",          "how=slow",
                                           "--rounds", "40",           "--no-doctor", "--json"};
    const Printed first = assay(command, [&](pid_t pid) {
        // Not before it is at work: until then a signal ends it like any program.
        eventually([&] { return std::filesystem::exists(folder / "lock"); });
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        ::kill(pid, SIGINT);
    });
    ASSERT_EQ(first.exit_code, 1) << first.err;
    const json stopped = json::parse(first.out);
    EXPECT_TRUE(stopped["interrupted"]);
    ASSERT_FALSE(stopped["samples"].empty());
    const Printed second = assay(command);
    EXPECT_EQ(second.exit_code, 0) << second.err;
    const json finished = json::parse(second.out);
    EXPECT_EQ(finished["session"], stopped["session"]);
    EXPECT_EQ(finished["samples"].size(), 40U);
    EXPECT_THAT(second.err, HasSubstr("resuming session"));
}

TEST_F(RunCommandsTest, MeasuredRunsBeginWithWhatIsWrongWithTheMachine) {
    const MachineFolder machine;
    machine.put_server();
    machine.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    const EnvironmentVariable root("ASSAY_HARDWARE_ROOT", machine.path().string());
    const std::string warning = "[warn] governor: performance, powersave; ";
    const Printed measured = assay({"run", "dummy/behave"});
    EXPECT_EQ(measured.exit_code, 0) << measured.err;
    const auto at = measured.err.find(warning);
    ASSERT_NE(at, std::string::npos) << measured.err;
    EXPECT_LT(at, measured.err.find("[1/1"));
    EXPECT_THAT(measured.err, Not(HasSubstr("[ok]")));
    EXPECT_THAT(assay({"run", "dummy/behave", "--json"}).err, HasSubstr(warning));
    EXPECT_THAT(assay({"run", "dummy/behave", "--no-doctor"}).err, Not(HasSubstr("[warn]")));
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, Not(HasSubstr("[warn]"))) << "nothing measured";
    EXPECT_THAT(assay({"run", "dummy/behave", "--dry-run"}).err, Not(HasSubstr("[warn]")));
    EXPECT_THAT(assay({"doctor"}).out, AllOf(HasSubstr("[warn] governor "), HasSubstr("[ok]   ")));
}

TEST_F(RunCommandsTest, TheControlWorkloadIsInEveryProgramAndRunsOnRequestOnly) {
    EXPECT_THAT(assay({"list"}).out, Not(HasSubstr("assay/control")));
    EXPECT_THAT(assay({"list", "assay"}).out, HasSubstr("assay/control"));
    const json session = assay_json({"run", "assay/control"});
    ASSERT_EQ(session["samples"].size(), 1U);
    const json& metrics = session["samples"][0]["metrics"];
    for (const char* name : {"arithmetic", "memory", "processes", "checksum"})
        EXPECT_TRUE(metrics.contains(name)) << metrics;
}

TEST_F(RunCommandsTest, ReproduceWritesTheReport) {
    const auto file = folder / "report.html";
    const Printed printed = assay({"reproduce", "dummy/sum", "-o", file.string()});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, AllOf(HasSubstr("Expected and obtained"), HasSubstr(file.string())));
    EXPECT_THAT(contents(file), AllOf(HasSubstr("<svg"), HasSubstr("dummy/sum")));
    const Printed report = assay({"report", "dummy/sum", "-o", "-"});
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_THAT(report.out, HasSubstr("<html"));
    EXPECT_EQ(assay({"report", "--gate", "-o", file.string()}).exit_code, 2);
    const Printed page = assay({"reproduce", "dummy/sum", "-o", "/dev/stdout"});
    EXPECT_THAT(page.out, AllOf(HasSubstr("</html>"), Not(HasSubstr("Expected and obtained"))));
    EXPECT_THAT(page.err, HasSubstr("Expected and obtained")) << "words would spoil the page";
}

TEST_F(RunCommandsTest, HighlightsEndInOnePage) {
    std::filesystem::create_directory(folder / "sub");
    const auto file = folder / "sub/page.html";
    const Printed plan = assay({"highlights", "--dry-run"});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    const Printed printed = assay({"highlights", "-o", file.string()});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    const std::string picture = (folder / "sub/assay-dummy-sum.svg").string();
    EXPECT_THAT(printed.out,
                AllOf(HasSubstr("1 of 2 checked hold, 1 contradicted"),
                      HasSubstr("dummy: sums, by adding"), HasSubstr("dummy/sum/thrice"),
                      HasSubstr(file.string()), HasSubstr(picture), HasSubstr("\nNext\n")));
    EXPECT_LE(std::count(printed.out.begin(), printed.out.end(), '\n'), 40) << "one page";
    EXPECT_THAT(contents(picture), HasSubstr("<svg"));
    EXPECT_THAT(contents(file), HasSubstr("1 of 2 checked hold, 1 contradicted"));

    const json page = assay_json({"highlights", "dummy", "-o", file.string()});
    EXPECT_EQ(page["samples"].size(), 3U) << "narrowed to n=3";
    EXPECT_EQ(page["systems"][0]["system"], "dummy");
    EXPECT_EQ(page["systems"][0]["picture"], picture);
    const Printed unknown = assay({"highlights", "plato"});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("no highlight of 'plato'; there are: dummy"));
}

TEST_F(RunCommandsTest, ReplayWipesItsStatusLineBeforeTheResult) {
    const std::string id = assay_json({"run", "dummy/sum"})["samples"][4]["id"];
    const std::string shown =
        run_at_terminal(ASSAY_DUMMY_PROGRAM, {"replay", id}, 100, "xterm-256color");
    const auto status = shown.rfind("[0/1"), result = shown.find(" metrics agree");
    ASSERT_NE(status, shown.npos) << shown;
    ASSERT_NE(result, shown.npos) << shown;
    EXPECT_THAT(shown.substr(status, result - status), HasSubstr("\x1b[K")) << shown;
}

TEST_F(RunCommandsTest, ARunThatIsRefusedBeginsNoDatabase) {
    const std::string other = (folder / "other.db").string();
    assay({"run", "dummy/behave", "-a", "how=slow", "--rounds", "40", "--no-doctor"},
          [&](pid_t pid) {
              eventually([&] { return std::filesystem::exists(folder / "results.db"); });
              const Printed refused = assay({"run", "dummy/behave", "--no-doctor", "--db", other});
              EXPECT_EQ(refused.exit_code, 1);
              EXPECT_THAT(refused.err, Not(HasSubstr("new database")));
              EXPECT_FALSE(std::filesystem::exists(other));
              std::this_thread::sleep_for(std::chrono::milliseconds(500));
              ::kill(pid, SIGINT);
          });
}

TEST_F(RunCommandsTest, ReplayAgreesAndNoticesWhenItDoesNot) {
    const json run = assay_json({"run", "dummy/sum"});
    const std::string id = run["samples"][4]["id"];
    const Printed same = assay({"replay", id.substr(0, 10), "--json"});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_TRUE(json::parse(same.out)["agrees"]);
    EXPECT_EQ(json::parse(same.out)["deterministic"], 4);
    EXPECT_TRUE(json::parse(same.out)["same_data"].is_null()) << "it reads no file";
    // A sample without deterministic metrics can only be looked at.
    const std::string other = assay_json({"run", "dummy/behave"})["samples"][0]["id"];
    EXPECT_EQ(assay({"replay", other}).exit_code, 3);
    EXPECT_EQ(assay({"replay", "ffffffffffff"}).exit_code, 1);
}

TEST_F(RunCommandsTest, ReplayOfAPolicyTellsItOnceMoreOfWhatWasRecorded) {
    const EnvironmentVariable settle("ASSAY_SETTLE", "0");  // nothing is timed
    const auto sample = [&](const std::string& how) -> std::string {
        return assay_json({"run", "dummy/behave", "-a", "how=" + how})["samples"][0]["id"];
    };
    const std::string same = sample("decides_same");
    const Printed alike = assay({"replay", same.substr(0, 10), "--policy"});
    EXPECT_EQ(alike.exit_code, 0) << alike.err;
    EXPECT_EQ(alike.out, "3 decisions, all the same\n");
    EXPECT_EQ(alike.err, "") << "nothing is run";
    const json object = assay_json({"replay", same, "--policy"});
    EXPECT_EQ(object["id"], same);
    EXPECT_TRUE(object["agrees"].get<bool>());
    EXPECT_EQ(object["recordings"].size(), 1U);

    const std::string other = sample("decides_otherwise");
    const Printed otherwise = assay({"replay", other, "--policy"});
    EXPECT_EQ(otherwise.exit_code, 2) << otherwise.err;
    EXPECT_THAT(otherwise.out, HasSubstr("step is 5, was 4"));
    EXPECT_EQ(assay({"replay", other, "--policy", "--json"}).exit_code, 2);
    EXPECT_EQ(assay({"replay", sample("decides_nothing"), "--policy"}).exit_code, 3);

    const auto refused = [&](const std::string& how) {
        const Printed printed = assay({"replay", sample(how), "--policy"});
        EXPECT_EQ(printed.exit_code, 1) << printed.out;
        return printed.err;
    };
    EXPECT_THAT(refused("decides_unreadably"), HasSubstr("this is no recording"));
    EXPECT_THAT(refused("well"), AllOf(HasSubstr("no decisions are recorded in sample"),
                                       HasSubstr("assay run dummy/behave")));
    EXPECT_EQ(assay({"replay", same, "--policy", "--timeout", "5"}).exit_code, 1)
        << "there is nothing to end";
}

TEST_F(RunCommandsTest, ReplaySaysThatItsFilesHaveOtherContent) {
    const EnvironmentVariable input("ASSAY_TEST_INPUT", (folder / "numbers").string());
    std::ofstream(folder / "numbers") << "1 2 3";
    const std::string id = assay_json({"run", "dummy/sum"})["samples"][0]["id"];
    EXPECT_TRUE(assay_json({"replay", id})["same_data"].get<bool>());
    std::ofstream(folder / "numbers") << "1 2 4";
    EXPECT_FALSE(assay_json({"replay", id})["same_data"].get<bool>());
    EXPECT_THAT(assay({"replay", id}).out, HasSubstr("have other content now"));
    // What differs may be the file's doing.
    std::ofstream(folder / "numbers") << "2 2 3";
    const Printed differs = assay({"replay", id, "--json"});
    EXPECT_EQ(differs.exit_code, 3) << differs.err;
    EXPECT_FALSE(json::parse(differs.out)["agrees"].get<bool>());
    // Also where it is known what it must be.
    const EnvironmentVariable known("ASSAY_TEST_INPUT_SHA256", std::string(64, '0'));
    EXPECT_EQ(assay({"run", "dummy/sum"}).exit_code, 1);
    const Printed damaged = assay({"replay", id});
    EXPECT_EQ(damaged.exit_code, 3) << damaged.err;
    EXPECT_THAT(damaged.out, HasSubstr("have other content now"));
}

}  // namespace
}  // namespace assay::testing
