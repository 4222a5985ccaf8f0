// Seeds in processes of their own: what happens to one is no matter of the others, and how many
// processes there are is no matter at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "suite/base/error.hpp"
#include "suite/drive/campaign/run_campaign.hpp"
#include "suite/drive/campaign/run_seeds.hpp"
#include "tests/base/processes.hpp"
#include "tests/base/shell.hpp"
#include "tests/drive/campaign/toy_campaign.hpp"

namespace assay::drive {
namespace {

using testing::descendants_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::open_descriptors;
using testing::toy_campaign;
using testing::Trouble;

const CampaignListener nobody{.on_seed = [](const auto&...) {},
                              .on_progress = [](const auto&...) {}};

CampaignRequest request(const std::string& mode, SeedRange seeds, int jobs = 2) {
    CampaignRequest request;
    request.system = "toy";
    request.mode = mode;
    request.seeds = seeds;
    request.jobs = jobs;
    return request;
}

std::vector<std::uint64_t> seeds_of(const CampaignResult& result) {
    std::vector<std::uint64_t> seeds;
    for (const FailedSeed& failed : result.failed) seeds.push_back(failed.seed);
    return seeds;
}

/// Descriptors and processes are as before.
class CampaignRun : public ::testing::Test {
  protected:
    CampaignRun() : descriptors_(open_descriptors()) {}
    ~CampaignRun() override {
        EXPECT_EQ(open_descriptors(), descriptors_);
        EXPECT_THAT(descendants_of(::getpid()), IsEmpty());
    }

  private:
    std::set<int> descriptors_;
};

TEST_F(CampaignRun, WhateverASeedDoesIsItsOwnFailure) {
    const auto result = run_campaign(toy_campaign(), request("rough", {1, 29}), nobody);
    std::map<Trouble, std::string> why;
    for (const FailedSeed& failed : result.failed) why[Trouble{int(failed.seed)}] = failed.why;
    const std::string garbage = "its process wrote something else than an outcome";
    EXPECT_EQ(why, (std::map<Trouble, std::string>{
                       {Trouble::broken_rule, "the lineage has no step 3"},
                       {Trouble::abort, "its process ended early: killed by signal 6 (Aborted)"},
                       {Trouble::endless_loop, "it did not end within 1 s"},
                       {Trouble::garbage, garbage},
                       {Trouble::exit_well, "its process ended early: exited with status 0"},
                       {Trouble::exception, "no replica of expert 3 is left"},
                       {Trouble::thrown_number, "it threw something that is no std::exception"},
                       {Trouble::leave_child, "its process ended early: exited with status 3"},
                       {Trouble::sigkill, "its process ended early: killed by signal 9 (Killed)"},
                       {Trouble::no_utf8, "step \xEF\xBF\xBD is missing"},
                       {Trouble::close_all, "its process ended early: exited with status 1"},
                       {Trouble::flood, garbage}}));
    EXPECT_EQ(result.schedules(), 29U);
    EXPECT_FALSE(result.interrupted);
    // Every odd seed has been run, and once.
    EXPECT_EQ(result.counts.at("fault.kill"), 15);
}

TEST_F(CampaignRun, ResultsDoNotDependOnTheNumberOfProcesses) {
    Campaign campaign = toy_campaign();
    const auto json = [&](int jobs, int seeds_per_process) {
        campaign.modes[0].seeds_per_process = seeds_per_process;
        const auto what = request("steady", {1, 500}, jobs);
        return campaign_json(what, run_campaign(campaign, what, nobody));
    };
    const auto one = json(1, 7);
    EXPECT_EQ(one.at("failed").size(), 12U);
    EXPECT_EQ(one.at("counts").at("commits"), 1000);
    EXPECT_EQ(one.at("counts").at("fault.kill"), 250);
    EXPECT_EQ(json(4, 7), one);
    EXPECT_EQ(json(4, 1), one);
    EXPECT_EQ(json(3, 1000), one);
}

TEST_F(CampaignRun, OutcomesComeInTheOrderOfTheSeeds) {
    CampaignMode mode = toy_campaign().modes[0];
    mode.run = [](std::uint64_t seed, const std::string&) {
        // The others are far ahead when this one ends.
        if (seed == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return SeedOutcome{.ok = true, .why = "", .counts = {{"seed", long(seed)}}, .says = ""};
    };
    mode.seeds_per_process = 500;
    std::vector<std::uint64_t> heard, expected(12'000);
    std::iota(expected.begin(), expected.end(), 1U);
    std::uint64_t before_first = 0;
    cluster::SignalWatch signals{SIGUSR2};
    const auto end =
        run_seeds(mode, {.seeds = {1, expected.size()}, .variant = "", .jobs = 2}, signals,
                  {.on_outcome =
                       [&](std::uint64_t seed, const SeedOutcome& outcome) {
                           heard.push_back(seed);
                           EXPECT_EQ(outcome.counts.at("seed"), long(seed));
                       },
                   .on_progress =
                       [&](std::uint64_t done) {
                           if (heard.empty()) before_first = done;
                       }});
    EXPECT_EQ(end, SeedsEnd::all_done);
    EXPECT_EQ(heard, expected);
    EXPECT_GT(before_first, 500U);
    EXPECT_LE(before_first, 11'000U) << "outcomes pile up without a bound";
}

TEST_F(CampaignRun, FailingFastEndsAtTheSameSeedHoweverManyRun) {
    for (const int jobs : {1, 4}) {
        auto what = request("steady", {1, 500}, jobs);
        what.fail_fast = true;
        const auto result = run_campaign(toy_campaign(), what, nobody);
        EXPECT_THAT(seeds_of(result), ElementsAre(41U));
        EXPECT_EQ(result.schedules(), 41U);
        EXPECT_FALSE(result.interrupted);
    }
}

TEST_F(CampaignRun, VariantsRunOneAfterTheOther) {
    auto what = request("steady", {38, 51});
    what.variant = all_of_them;
    const auto result = run_campaign(toy_campaign(), what, nobody);
    ASSERT_EQ(result.parts.size(), 2U);
    EXPECT_EQ(result.parts[0].variant, "strict");
    EXPECT_EQ(result.parts[0].failed, 2U);
    EXPECT_EQ(result.parts[1].variant, "lenient");
    EXPECT_EQ(result.parts[1].failed, 0U);
    EXPECT_EQ(result.schedules(), 28U);
    ASSERT_THAT(seeds_of(result), ElementsAre(40U, 50U));
    EXPECT_EQ(result.failed[0].replay,
              "assay campaign toy --seeds 40 --mode steady --variant strict");
    EXPECT_THAT(campaign_text(toy_campaign(), result), HasSubstr("steady strict: 14 schedules, 2 "
                                                                 "failed\nsteady lenient: 14 "
                                                                 "schedules, 0 failed\n28 "));
}

TEST_F(CampaignRun, AModeCanBeWithoutAVariantAndSaysSo) {
    Campaign campaign = toy_campaign();
    for (CampaignMode& mode : campaign.modes)
        if (mode.name == "steady") mode.cannot = {{"lenient", "lenient needs another machine"}};
    auto what = request("steady", {1, 3});
    what.variant = all_of_them;
    const CampaignResult result = run_campaign(campaign, what, nobody);
    ASSERT_EQ(result.parts.size(), 1U);
    EXPECT_EQ(result.parts[0].variant, "strict");
    what.variant = "lenient";
    try {
        run_campaign(campaign, what, nobody);
        FAIL();
    } catch (const NotSupportedHere& error) {
        EXPECT_THAT(error.what(), HasSubstr("needs another machine"));
    }
}

TEST_F(CampaignRun, AModeThatCannotRunIsFoundOutBeforeAnyDoes) {
    CampaignListener listener = nobody;
    listener.on_progress = [](const auto&...) { ADD_FAILURE() << "something ran"; };
    EXPECT_THROW(run_campaign(toy_campaign(), request(all_of_them, {1, 3}), listener),
                 NotSupportedHere);
}

TEST_F(CampaignRun, ASignalEndsItWithWhatWasFound) {
    for (const int number : {SIGINT, SIGTERM}) {
        CampaignListener listener = nobody;
        listener.on_seed = [&](const CampaignPart&, std::uint64_t seed, const SeedOutcome&) {
            if (seed == 3) ::raise(number);
        };
        const auto result = run_campaign(toy_campaign(), request("slow", {1, 500}), listener);
        EXPECT_TRUE(result.interrupted);
        EXPECT_GE(result.schedules(), 3U);
        EXPECT_LE(result.schedules(), 5U);
        EXPECT_THAT(result.failed, IsEmpty()) << "what was killed has not failed";
        EXPECT_THAT(campaign_text(toy_campaign(), result), HasSubstr("interrupted\n"));
    }
}

}  // namespace
}  // namespace assay::drive
