// The real program: one command, a result in the database, a verdict on the paper's claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <thread>
#include <tuple>

#include "tests/base/processes.hpp"
#include "tests/cli/program_test.hpp"
#include "tests/cluster/processes/listening_sockets.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EndToEndTest : public ProgramTest {
  protected:
    EndToEndTest() : ProgramTest(ASSAY_PROGRAM) {}

    /// Not the tester's own, which may be anything; kept between tests.
    EnvironmentVariable data{"ASSAY_DATA", ASSAY_FETCHED_DATA};

    std::string loads_file(const std::string& text) const {
        std::ofstream(folder / "loads") << text;
        return (folder / "loads").string();
    }
    /// One short run of it, into a database of its own; 4 is "not supported here".
    bool live_training_works() const {
        assay({"data", "fetch", "bible-kjv"});
        for (const json& row : assay_json({"list"}))
            if (row["id"] == "lazarus/x_live")
                return assay({"run", "lazarus/x_live", "-a", "steps=3", "--fault",
                              "kill:rank=1@step=1", "--db", (folder / "probe.db").string()})
                           .exit_code != 4;
        return false;
    }
};

TEST_F(EndToEndTest, OneCommandFromExperimentToVerdict) {
    const json run = assay_json({"run", "lazarus/fig10b"});
    ASSERT_FALSE(run["samples"].empty());
    for (const json& sample : run["samples"]) {
        EXPECT_EQ(sample["status"], "ok") << sample;
        EXPECT_EQ(sample["provenance"], "exact");
        EXPECT_FALSE(sample["metrics"].empty());
    }
    bool judged = false;
    for (const json& claim : assay_json({"claims", "lazarus/fig10b"}))
        judged = judged || claim["obtained"].is_number();
    EXPECT_TRUE(judged) << "no claim of the figure was checked";
    const json again = assay_json({"replay", run["samples"][0]["id"]});
    EXPECT_TRUE(again["agrees"]);
    EXPECT_GT(again["deterministic"], 0);
}

// The paper's main experiment in small: five minutes, six nodes of which three are lost at once.
// As on a machine where nothing was fetched yet: the text to train on comes with the highlight.
TEST_F(EndToEndTest, HighlightsFetchWhatTheyNeed) {
    if (!live_training_works()) GTEST_SKIP() << "no live training in this build";
    const EnvironmentVariable nothing("ASSAY_DATA", (folder / "data").string());
    const json page = assay_json({"highlights", "lazarus", "-o", (folder / "page.html").string()});
    for (const json& sample : page["samples"])
        EXPECT_EQ(sample["status"], "ok") << sample["experiment"] << ": " << sample["reason"];
    EXPECT_TRUE(page["systems"][0]["picture"].is_string());
    // What was fetched is part of the series, as it is of every later run's.
    const json history = assay_json({"history", "lazarus/x_live", "--metric", "deaths"});
    ASSERT_FALSE(history.empty());
    for (const json& trend : history) EXPECT_NE(trend["series"]["data"], "") << trend;
}

TEST_F(EndToEndTest, RivalsMeetOnAShortSpotTrace) {
    if (!live_training_works()) GTEST_SKIP() << "no live training in this build";
    const auto trace = (folder / "short.toml").string();
    std::ofstream(trace) << "says = \"six nodes, three are lost, two come back\"\n"
                            "duration_s = 300\n"
                            "[[change]]\nat_s = 0\nadd = 6\n"
                            "[[change]]\nat_s = 80\nremove = 3\n"
                            "[[change]]\nat_s = 120\nadd = 2\n";
    const json run = assay_json({"run", "lazarus/fig9", "-a", "model=gpt-s", "-a", "relaunch_s=60",
                                 "-a", "minutes=5", "-a", "spot=" + trace, "-a",
                                 "modelled_steps=25", "--variant", "lazarus,ds"});
    ASSERT_EQ(run["samples"].size(), 2U);
    for (const json& sample : run["samples"]) {
        // A machine busy with other tests may be too slow for pacing, and then says so.
        if (sample["status"] == "invalid") continue;
        EXPECT_EQ(sample["status"], "ok") << sample;
        EXPECT_EQ(sample["provenance"], "emulated");
        const json& metrics = sample["metrics"];
        EXPECT_EQ(metrics["deaths"], 3);
        EXPECT_EQ(metrics["state_equal_to_oracle"], 1);
        double shares = 0;
        for (const auto& [name, value] : metrics.items()) {
            if (name.rfind("share", 0) != 0) continue;
            EXPECT_GE(value.get<double>(), -1e-9) << name;
            shares += value.get<double>();
        }
        EXPECT_NEAR(shares, 1, 1e-9);
    }
}

// What `assay plan trace --map` prints goes into a shell as it is.
TEST_F(EndToEndTest, ThePrintedCommandOfATraceMakesAPlan) {
    const auto trace = (folder / "my nodes.csv").string();
    std::ofstream(trace) << "0,add,a\n0,add,b\n0,add,c\n0,add,d\n120000,remove,b\n300000,add,e\n";
    const json view = assay_json({"plan", "trace", trace, "--map", "tracked", "--nodes", "4"});
    const std::string command = view["mapped"]["run"];
    ASSERT_THAT(command, StartsWith("assay run lazarus/fig9 -a "));
    ASSERT_THAT(assay({"plan", "trace", trace, "--map", "tracked", "--nodes", "4"}).out,
                HasSubstr("\n  " + command + "\n"));
    const Printed printed = run_program(
        "/bin/sh", {"-c", "assay() { \"" ASSAY_PROGRAM "\" \"$@\"; }; " + command + " --dry-run"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("lazarus/fig9"));
}

TEST_F(EndToEndTest, TheExamplesOfPlanLazarusWorkAsPrinted) {
    const std::string help = assay({"plan", "lazarus", "--help"}).out;
    std::istringstream lines(help.substr(help.find("Examples:")));
    std::string line, command;
    int ran = 0;
    while (std::getline(lines, line)) {
        if (line.rfind("  ", 0) != 0) continue;
        command += line;
        if (command.back() == '\\') {
            command.pop_back();
            continue;
        }
        const Printed printed =
            run_program("/bin/sh", {"-c", "cd \"" ASSAY_SOURCE "\"; assay() { \"" ASSAY_PROGRAM
                                          "\" \"$@\"; }; " +
                                              command});
        EXPECT_EQ(printed.exit_code, 0) << command << '\n' << printed.err;
        EXPECT_THAT(printed.out, HasSubstr("P(every expert")) << command;
        command.clear();
        ++ran;
    }
    EXPECT_GE(ran, 4);
}

// What a simulated training decided is stored with it, and today's controller decides it again.
TEST_F(EndToEndTest, ASimulatedTrainingIsDecidedAgain) {
    const json run = assay_json(
        {"run", "lazarus/fig9", "--mode", "simulated", "-a", "model=gpt-s", "-a", "relaunch_s=60"});
    ASSERT_EQ(run["samples"].size(), 5U) << "one of each system";
    for (const json& sample : run["samples"]) {
        const std::string id = sample["id"];
        const Printed again = assay({"replay", id, "--policy"});
        EXPECT_EQ(again.exit_code, 0) << again.err << again.out;
        EXPECT_THAT(again.out, HasSubstr(" decisions, all the same\n"));
        EXPECT_GT(std::stol(again.out), 500) << again.out;
    }
    const std::string undecided = assay_json({"run", "lazarus/fig4"})["samples"][0]["id"];
    const Printed none = assay({"replay", undecided, "--policy"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("no decisions are recorded in sample " + undecided));
}

TEST_F(EndToEndTest, CampaignsPassInVirtualTimeAndLive) {
    const json campaign = assay_json({"campaign", "lazarus", "--seeds", "1..40"});
    EXPECT_EQ(campaign["schedules"], 40);
    EXPECT_TRUE(campaign["failed"].empty());
    if (!live_training_works()) return;
    // Workers that a fault makes give up say so on standard error: that is no error of the
    // campaign.
    const Printed printed = assay(
        {"campaign", "lazarus", "--seeds", "1..15", "--mode", "live", "--jobs", "2", "--json"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    const json live = json::parse(printed.out);
    EXPECT_EQ(live["schedules"], 15);
    EXPECT_TRUE(live["failed"].empty()) << live;
}

TEST_F(EndToEndTest, PlanGivesTheKnownVectors) {
    // Three experts of equal load on three nodes of two slots: the last node group is cut short,
    // and two live nodes cover every expert in two cases of three.
    const json plan = assay_json(
        {"plan", "lazarus", "--loads", loads_file("10, 10 10\n"), "--nodes", "3", "--slots", "2"});
    EXPECT_THAT(plan["replicas"].get<std::vector<int>>(), ElementsAre(2, 2, 2));
    EXPECT_EQ(plan["nodes"], json::parse("[[0,1],[0,1],[2,2]]"));
    ASSERT_EQ(plan["recovery"].size(), 4U);
    EXPECT_EQ(plan["recovery"][0], 1.0);
    EXPECT_NEAR(plan["recovery"][1].get<double>(), 2.0 / 3, 1e-12);
    EXPECT_EQ(plan["recovery"][3], 0.0);
    EXPECT_EQ(plan["recovery_method"], "exact");
    EXPECT_TRUE(plan.contains("recovery_error"));
    EXPECT_EQ(plan["min_replicas_used"], 2);
}

// As Excel and PowerShell write texts, and as others do.
TEST_F(EndToEndTest, AByteOrderMarkIsNoPartOfAText) {
    const auto planned = [&](const std::string& mark, const std::string& name,
                             const std::string& text, std::vector<std::string> command) {
        const std::string file = (folder / name.c_str()).string();
        std::ofstream(file, std::ios::binary) << mark << text;
        command.insert(command.begin() + 3, file);
        json answer = assay_json(std::move(command));
        std::filesystem::remove(file);
        return answer;
    };
    using Case = std::tuple<std::string, std::string, std::vector<std::string>>;
    for (
        const auto& [name, text, command] : std::initializer_list<Case>{
            {"loads",
             "10, 10 10\n",
             {"plan", "lazarus", "--loads", "--nodes", "3", "--slots", "2"}},
            {"plan.txt", "1. First | deps: -\n2. Second | deps: 1\n", {"plan", "plato", "--text"}},
            {"plans.jsonl",
             R"({"id":"a","question_tokens":5,"static_plan_tokens":2,"static_node_tokens":1,"nodes":)"
             R"([{"i":1,"deps":[],"line_tokens":3,"lead_tokens":1,"out_tokens":4}]})",
             {"plan", "plato", "--plans", "--step-ms", "5,1", "--prefill-ms", "1"}}})
        EXPECT_EQ(planned("\xef\xbb\xbf", name, text, command), planned("", name, text, command));
}

TEST_F(EndToEndTest, BadInputIsOneSentenceAndExitCodeOne) {
    const auto plan = [&](const std::string& loads, const char* nodes, const char* slots) {
        return std::vector<std::string>{"plan",    "lazarus", "--loads", loads_file(loads),
                                        "--nodes", nodes,     "--slots", slots};
    };
    struct {
        const char *loads, *nodes, *slots;
    } const plans[] = {{"1 2 3 4 5", "2", "2"}, {"1 -2 3", "3", "2"},
                       {"1 x 3", "3", "2"},     {"1 99999999999999999999999 3", "3", "2"},
                       {"", "3", "2"},          {"1 2.5", "3", "2"},
                       {"1 2", "0", "2"},       {"1 2", "-3", "2"},
                       {"1 2", "many", "2"}};
    std::vector<Printed> printed;
    for (const auto& row : plans) printed.push_back(assay(plan(row.loads, row.nodes, row.slots)));
    printed.push_back(
        assay({"plan", "lazarus", "--loads", "/nonexistent", "--nodes", "3", "--slots", "2"}));
    printed.push_back(
        assay({"plan", "lazarus", "--loads", "/dev/zero", "--nodes", "3", "--slots", "2"}));
    EXPECT_THAT(printed.back().err, HasSubstr("larger than 64 MiB"));
    for (const char* seed : {"-1", "18446744073709551616", "one"}) {
        std::vector<std::string> arguments = plan("1 2 3", "3", "2");
        arguments.insert(arguments.end(), {"--seed", seed});
        printed.push_back(assay(arguments));
        EXPECT_THAT(printed.back().err, HasSubstr("from 0 to 18446744073709551615"));
    }
    printed.push_back(assay({"plan", "no-such-system"}));
    EXPECT_THAT(printed.back().err, HasSubstr("has no 'no-such-system'; known: lazarus"));
    printed.push_back(assay({"plan", "lazaruss"}));
    EXPECT_THAT(printed.back().err, HasSubstr("did you mean 'lazarus'?"));
    printed.push_back(assay({"claims", "lazarus/fig88"}));
    EXPECT_THAT(printed.back().err, HasSubstr("did you mean 'lazarus/fig8'? "));
    printed.push_back(assay({"run", "lazarus/fig9999"}));
    printed.push_back(assay({"run", "lazarus/fig8", "-a", "no_such_axis=1"}));
    for (const Printed& one : printed) {
        EXPECT_EQ(one.exit_code, 1) << one.err << one.out;
        EXPECT_THAT(one.err, StartsWith("assay: "));
        EXPECT_EQ(std::count(one.err.begin(), one.err.end(), '\n'), 1) << one.err;
        EXPECT_EQ(one.out, "");
    }
    EXPECT_THAT(assay({"run", "lazarus/fig88"}).err, HasSubstr("lazarus/fig8"));
}

TEST_F(EndToEndTest, ImpossibleFaultPlansDoNotPass) {
    if (!live_training_works()) GTEST_SKIP() << "no libtorch, or no text to train on";
    for (const char* fault : {"kill:rank=99@step=3", "kill:rank=1@step=oops", "boom:rank=1@step=1"})
        EXPECT_EQ(assay({"run", "lazarus/x_live", "--fault", fault}).exit_code, 1) << fault;
}

TEST_F(EndToEndTest, PhasesOfFaultsAreThoseOfTheSystem) {
    EXPECT_THAT(assay({"describe", "lazarus/x_live"}).out, HasSubstr("\ntransfer  "));
    const auto run = [&](const std::string& phase) {
        return assay({"run", "lazarus/x_live", "--dry-run", "--fault",
                      "kill:rank=1,phase=" + phase + "@step=5"});
    };
    EXPECT_EQ(run("regroup").exit_code, 0) << "also where it cannot be run";
    const Printed slip = run("regrup");
    EXPECT_EQ(slip.exit_code, 1);
    EXPECT_THAT(slip.err, HasSubstr("(did you mean 'regroup'?)"));
}

TEST_F(EndToEndTest, OneKillInALiveTrainingReachesTheDatabase) {
    if (!live_training_works()) GTEST_SKIP() << "no libtorch, or no text to train on";
    const json run =
        assay_json({"run", "lazarus/x_live", "--fault", "kill:rank=1@step=3", "--rounds", "1"});
    ASSERT_FALSE(run["samples"].empty());
    for (const json& sample : run["samples"]) EXPECT_EQ(sample["status"], "ok") << sample;
}

TEST_F(EndToEndTest, AScenarioFileStrikesAsItsFaultsWould) {
    if (!live_training_works()) GTEST_SKIP() << "no libtorch, or no text to train on";
    const std::string file = (folder / "two.toml").string();
    std::ofstream(file) << "[[fault]]\nkind = \"kill\"\nrank = 1\nstep = 1\n"
                           "[[fault]]\nkind = \"join\"\nstep = 3\n";
    const Printed printed =
        assay({"run", "lazarus/x_live", "-a", "steps=5", "--scenario", file, "--json"});
    EXPECT_THAT(printed.err, HasSubstr("faults: kill:rank=1@step=1; join:count=1@step=3\n"));
    const json sample = json::parse(printed.out)["samples"][0];
    EXPECT_EQ(sample["status"], "ok") << sample;
    EXPECT_EQ(sample["metrics"]["deaths"], 1);
    EXPECT_EQ(sample["metrics"]["joins"], 1);
}

/// Starts a live training and signals the runner once workers are there. Returns what it printed,
/// and every process that descended from it.
class StruckTraining : public EndToEndTest {
  protected:
    std::set<pid_t> offspring;

    Printed strike(int signal) {
        return assay({"run", "lazarus/x_live", "--rounds", "20"}, [&](pid_t pid) {
            // The sample, its fork server, and at least two workers.
            eventually([&] {
                offspring.merge(descendants_of(pid));
                return offspring.size() >= 4;
            });
            ::kill(pid, signal);
        });
    }
};

TEST_F(StruckTraining, ListensOnLoopbackOnly) {
    if (!live_training_works()) GTEST_SKIP() << "no libtorch, or no text to train on";
    // The groups of workers come and go with the faults: what is seen at any time counts.
    std::set<std::string> addresses;
    std::size_t most_processes = 0;
    const Printed printed = assay({"run", "lazarus/x_live", "--rounds", "1"}, [&](pid_t pid) {
        while (!is_gone(pid)) {
            std::set<long> pids{pid};
            for (const pid_t descendant : descendants_of(pid)) pids.insert(descendant);
            most_processes = std::max(most_processes, pids.size());
            for (std::string& address : cluster::listening_sockets(pids))
                addresses.insert(std::move(address));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_GE(most_processes, 5U) << "the runner, the sample, its fork server, two workers";
    EXPECT_FALSE(addresses.empty()) << "workers that nobody can reach?";
    for (const std::string& address : addresses)
        EXPECT_TRUE(cluster::is_loopback(address)) << address;
}

TEST_F(StruckTraining, CtrlCLeavesNothingBehind) {
    if (!live_training_works()) GTEST_SKIP() << "no libtorch, or no text to train on";
    const Printed printed = strike(SIGINT);
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.out, HasSubstr("interrupted"));
    EXPECT_GE(offspring.size(), 4U);
    for (const pid_t pid : offspring) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST_F(StruckTraining, SigkillLeavesNothingBehind) {
    if (!live_training_works()) GTEST_SKIP() << "no libtorch, or no text to train on";
    EXPECT_EQ(strike(SIGKILL).exit_code, 128 + SIGKILL);
    EXPECT_GE(offspring.size(), 4U);
    for (const pid_t pid : offspring)
        EXPECT_TRUE(eventually([&] { return is_gone(pid); })) << pid << " survived";
}

}  // namespace
}  // namespace assay::testing
