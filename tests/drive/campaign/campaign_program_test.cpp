// `assay campaign` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/golden.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CampaignProgram : public ProgramTest {
  protected:
    CampaignProgram() : ProgramTest(ASSAY_CAMPAIGN_TOY) {}

    Printed campaign(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"campaign", "toy"});
        return assay(std::move(arguments));
    }
};

TEST_F(CampaignProgram, JsonIsAllThatIsPrinted) {
    const Printed printed = campaign({"--mode", "rough", "--json"});
    EXPECT_EQ(printed.exit_code, 1);
    ASSERT_TRUE(json::accept(printed.out)) << printed.out;
    EXPECT_THAT(printed.err, HasSubstr("what a seed prints is no part of the answer"));
    expect_golden("campaign.json", json::parse(printed.out).dump(1) + '\n');
}

TEST_F(CampaignProgram, TextNamesTheFailuresAndTheirCommands) {
    const Printed printed = campaign({"--seeds", "30..60"});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_EQ(printed.err, "");
    EXPECT_EQ(printed.out,
              "31 schedules, 1 failed\n"
              "faults: 15 kill\n"
              "60 steps committed, 0 discarded\n"
              "seed 41 (steady): a step is missing\n"
              "  it was: kill:rank=0@step=6\n"
              "  replay: assay campaign toy --seeds 41 --mode steady\n");
    const Printed well = campaign({"--seeds", "1..40"});
    EXPECT_EQ(well.exit_code, 0);
    EXPECT_THAT(well.out, StartsWith("40 schedules, 0 failed\n"));
}

TEST_F(CampaignProgram, TheCommandOfAFailureReplaysIt) {
    std::vector<json> failures;
    for (const auto& arguments :
         {std::vector<std::string>{"--mode", "rough", "--seeds", "1..6"},
          std::vector<std::string>{"--seeds", "1..50", "--variant", "strict"}}) {
        auto asked = arguments;
        asked.emplace_back("--json");
        const json found = json::parse(campaign(asked).out);
        failures.insert(failures.end(), found.at("failed").begin(), found.at("failed").end());
    }
    ASSERT_EQ(failures.size(), 3U + 5U);
    for (const json& failed : failures) {
        const std::string command = failed.at("replay");
        ASSERT_THAT(command, StartsWith("assay campaign toy "));
        const Printed printed = run_program(
            "/bin/sh",
            {"-c", "assay() { \"" ASSAY_CAMPAIGN_TOY "\" \"$@\"; }; " + command + " --json"});
        EXPECT_EQ(printed.exit_code, 1) << command;
        const json again = json::parse(printed.out).at("failed");
        ASSERT_EQ(again.size(), 1U) << command;
        EXPECT_EQ(again[0], failed);
    }
}

TEST_F(CampaignProgram, SeedsWithAProcessEachHaveALineEach) {
    EXPECT_THAT(campaign({"--mode", "slow", "--seeds", "1..3", "--jobs", "3"}).out,
                StartsWith("slow 1: ok; kill:rank=1@step=2\n"
                           "slow 2: ok; kill:rank=1@step=2\n"
                           "slow 3: ok; kill:rank=1@step=2\n"
                           "3 schedules, 0 failed\n"));
}

TEST_F(CampaignProgram, AnInterruptionEndsItAtOnceAndCleanly) {
    std::set<pid_t> seeds;
    const Printed printed =
        assay({"campaign", "toy", "--mode", "slow", "--jobs", "2"}, [&](pid_t pid) {
            EXPECT_TRUE(eventually([&] { return descendants_of(pid).size() == 2; }));
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            seeds = descendants_of(pid);
            // A terminal sends its Ctrl-C to the group of the program.
            for (const pid_t seed : seeds) EXPECT_NE(::getpgid(seed), ::getpgid(pid));
            ::kill(pid, SIGINT);
        });
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.out, AllOf(HasSubstr(" schedules, 0 failed\n"), HasSubstr("interrupted\n"),
                                   Not(HasSubstr("replay"))));
    for (const pid_t seed : seeds) EXPECT_TRUE(is_gone(seed));
}

TEST_F(CampaignProgram, AnEndlessSeedDiesWithIt) {
    std::set<pid_t> seeds;
    assay({"campaign", "toy", "--mode", "rough", "--seeds", "6"}, [&](pid_t pid) {
        EXPECT_TRUE(eventually([&] {
            seeds = descendants_of(pid);
            return !seeds.empty();
        }));
        ::kill(pid, SIGKILL);
    });
    for (const pid_t seed : seeds) {
        if (eventually([&] { return is_gone(seed); })) continue;
        ADD_FAILURE() << "it goes on";
        ::kill(seed, SIGKILL);
    }
}

TEST_F(CampaignProgram, MistakesAreSentences) {
    const struct {
        std::vector<std::string> arguments;
        int exit_code;
        const char* says;
    } mistakes[] = {
        {{"--seeds", "5..2"}, 1, "the last seed is before the first"},
        {{"--seeds", "many"}, 1, "give one seed (17), or the first and the last of a range"},
        {{"--mode", "rouhg"}, 1, "rouhg"},
        {{"--variant", "strikt"}, 1, "strikt"},
        {{"--jobs", "0"}, 1, "--jobs"},
        {{"--mode", "elsewhere"}, 4, "this machine is no other"},
        {{"--mode", "all"}, 4, "this machine is no other"},
    };
    for (const auto& mistake : mistakes) {
        const Printed printed = campaign(mistake.arguments);
        EXPECT_EQ(printed.exit_code, mistake.exit_code) << mistake.says;
        EXPECT_THAT(printed.err, AllOf(StartsWith("assay: "), HasSubstr(mistake.says)));
        EXPECT_EQ(printed.out, "");
    }
}

TEST_F(CampaignProgram, ATerminalShowsHowFarItIs) {
    const std::string text = run_at_terminal(
        ASSAY_CAMPAIGN_TOY, {"campaign", "toy", "--mode", "slow", "--seeds", "1..6", "--jobs", "2"},
        60, "xterm");
    EXPECT_THAT(text, HasSubstr("/6, 0 failed, "));
    EXPECT_THAT(text, HasSubstr(" left] slow"));
    EXPECT_THAT(text, HasSubstr("\x1b[K"));
}

}  // namespace
}  // namespace assay::testing
