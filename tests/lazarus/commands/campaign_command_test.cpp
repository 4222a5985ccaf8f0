// `assay campaign lazarus`: Lazarus and each rival keep every rule under its schedules, and one
// that does not is found out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/campaign/run_campaign.hpp"

namespace assay::lazarus {
namespace {

using drive::CampaignResult;
using drive::FailedSeed;
using testing::IsEmpty;

CampaignResult run(const drive::Campaign& campaign, drive::SeedRange seeds,
                   const std::string& variant = drive::drawn_variant) {
    drive::CampaignRequest request;
    request.system = "lazarus";
    request.mode = "virtual";
    request.seeds = seeds;
    request.variant = variant;
    return drive::run_campaign(
        campaign, request,
        {.on_seed = [](const auto&...) {}, .on_progress = [](const auto&...) {}});
}

std::string text_of(const CampaignResult& result) {
    return drive::campaign_text(campaign_modes(), result);
}

TEST(LazarusCampaignCommand, FiveHundredSchedulesKeepEveryRule) {
    const CampaignResult result = run(campaign_modes(), {1, 500});
    EXPECT_THAT(result.failed, IsEmpty()) << text_of(result);
    EXPECT_EQ(result.schedules(), 500U);
    EXPECT_GT(result.counts.at("commits"), 5000);
    EXPECT_GT(result.counts.at("fault.kill"), 500);
    EXPECT_GT(result.counts.at("finished"), 250);
}

TEST(LazarusCampaignCommand, EachRivalKeepsEveryRule) {
    const CampaignResult result = run(campaign_modes(), {501, 600}, drive::all_of_them);
    EXPECT_THAT(result.failed, IsEmpty()) << text_of(result);
    ASSERT_EQ(result.parts.size(), competing_systems().size());
    for (const auto& part : result.parts) EXPECT_EQ(part.schedules, 100U) << part.variant;
}

TEST(LazarusCampaignCommand, VariantsAreTheSystemsTheyAreCalledBy) {
    bool grouped = false;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        for (const CompetingSystem& system : competing_systems()) {
            const auto job = campaign::draw_schedule(seed, system.name).job;
            EXPECT_EQ(job.layout, system.layout);
            EXPECT_EQ(job.recovery, system.recovery);
            EXPECT_EQ(job.placement, system.placement.value_or(PlacementPolicy::mro));
            grouped = grouped || job.group > 1;
        }
    }
    EXPECT_TRUE(grouped);
    EXPECT_THROW(campaign::draw_schedule(1, "deepspeed"), UserError);
}

/// Trains one step more than the rules allow for.
drive::SeedOutcome sabotaged(std::uint64_t seed, const std::string&) {
    ControllerConfig other = campaign::draw_schedule(seed).job;
    other.checkpoint_every += 1;
    other.steps += 1;
    const auto outcome = campaign::run_virtual_schedule(seed, &other);
    return {.ok = outcome.ok, .why = outcome.why, .counts = outcome.counts, .says = ""};
}

TEST(LazarusCampaignCommand, ABrokenRuleIsFoundOutAndCanBeReplayed) {
    drive::Campaign campaign = campaign_modes();
    campaign.modes[0].run = sabotaged;
    const CampaignResult result = run(campaign, {1, 10});
    ASSERT_FALSE(result.failed.empty());
    for (const FailedSeed& failed : result.failed) {
        EXPECT_NE(failed.why, "");
        EXPECT_EQ(failed.replay, "assay campaign lazarus --seeds " + std::to_string(failed.seed) +
                                     " --mode virtual");
        EXPECT_EQ(failed.why, sabotaged(failed.seed, "").why) << "another process found otherwise";
    }
}

}  // namespace
}  // namespace assay::lazarus
