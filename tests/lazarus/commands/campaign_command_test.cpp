// `assay campaign lazarus`: seeds, modes, what it prints and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/commands/commands.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::HasSubstr;

struct Result {
    int code;
    std::string text;
};

Result run(std::vector<std::string> arguments, RunSchedule live = {},
           RunSchedule virtual_one = {}) {
    const auto command = make_campaign_command(std::move(live), std::move(virtual_one));
    CLI::App app;
    command->options(app);
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
    testing::internal::CaptureStdout();
    try {
        const int code = command->run();
        return {code, testing::internal::GetCapturedStdout()};
    } catch (...) {
        testing::internal::GetCapturedStdout();
        throw;
    }
}

/// Every schedule run by a controller that trains one step more than the rules allow for.
campaign::Outcome sabotaged(std::uint64_t seed) {
    ControllerConfig other = campaign::draw_schedule(seed).job;
    other.checkpoint_every += 1;
    other.steps += 1;
    return campaign::run_virtual_schedule(seed, &other);
}

TEST(LazarusCampaignCommand, RunsTheSeedsAskedFor) {
    const auto json = nlohmann::json::parse(run({"--seeds", "1..20", "--json"}).text);
    EXPECT_EQ(json.at("schedules"), 20);
    EXPECT_EQ(json.at("first"), 1);
    EXPECT_EQ(json.at("last"), 20);
    EXPECT_EQ(json.at("mode"), "virtual");
    EXPECT_TRUE(json.at("failed").empty());
    EXPECT_GT(json.at("counts").at("commits"), 0);
    const Result one = run({"--seeds", "17"});
    EXPECT_EQ(one.code, 0);
    EXPECT_THAT(one.text, HasSubstr("1 schedule, 0 failed"));
}

TEST(LazarusCampaignCommand, ReportsABrokenRuleAndHowToReplayIt) {
    const Result text = run({"--seeds", "1..10"}, {}, sabotaged);
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.text, HasSubstr("replay: assay campaign lazarus --seeds "));
    const auto json =
        nlohmann::json::parse(run({"--seeds", "1..10", "--json"}, {}, sabotaged).text);
    ASSERT_FALSE(json.at("failed").empty());
    EXPECT_NE(json.at("failed")[0].at("why"), "");
}

TEST(LazarusCampaignCommand, RunsLiveSchedulesWhereItCan) {
    const auto live = [](std::uint64_t seed) {
        return campaign::Outcome{
            seed != 3, seed != 3 ? "" : "a step is missing", {{"commits", 5}}, "kill"};
    };
    const Result result = run({"--seeds", "2..4", "--mode", "live", "--json"}, live);
    EXPECT_EQ(result.code, 1);
    const auto json = nlohmann::json::parse(result.text);
    EXPECT_EQ(json.at("schedules"), 3);
    EXPECT_EQ(json.at("counts").at("commits"), 15);
    ASSERT_EQ(json.at("failed").size(), 1u);
    EXPECT_EQ(json.at("failed")[0].at("replay"), "assay campaign lazarus --seeds 3 --mode live");
    EXPECT_THROW(run({"--seeds", "1", "--mode", "live"}), NotSupportedHere);
}

TEST(LazarusCampaignCommand, RefusesMalformedRanges) {
    for (const char* text :
         {"", "x", "1..", "..3", "1-3", "5..2", "-1", "1..2..3", "1..99999999999"})
        EXPECT_THROW(parse_seed_range(text), UserError) << text;
    EXPECT_EQ(parse_seed_range("7").last, 7u);
    EXPECT_EQ(parse_seed_range("7..9").first, 7u);
}

}  // namespace
}  // namespace assay::lazarus
