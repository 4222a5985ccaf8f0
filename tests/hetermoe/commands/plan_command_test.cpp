// `assay plan hetermoe`: the JSON other programs build on, the text, and what bad input is answered
// with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/hetermoe/commands/commands.hpp"
#include "suite/scenario/device_profile.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::hetermoe {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HetermoePlanCommand : public assay::testing::CommandTest {
  protected:
    HetermoePlanCommand() : CommandTest(make_plan_command) {}

    // The paper's Fig. 6, with two new GPUs.
    std::string file(const std::string& more = "") const {
        const std::string name = (folder_ / "p.toml").string();
        std::ofstream(name) << "layers = 3\nexperts = 6\nmicro_batches = [3]\n[new]\ngpus = 2\n"
                               "attention_s = 0.75\nexpert_s = 0.8\n[exchange]\nseconds = 0\n"
                               "[old]\ngpus = 1\nexpert_s = 1\n"
                            << more;
        return name;
    }

    json plan(std::vector<std::string> arguments, const std::string& more = "") const {
        arguments.insert(arguments.begin(), {"--profile", file(more), "--json"});
        return json::parse(output(arguments));
    }
};

std::vector<std::string> keys(const json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
}

TEST_F(HetermoePlanCommand, PlansForEveryShippedDevice) {
    for (const char* device :
         {"a100", "a10g", "a40", "h100", "h200", "l40s", "rtx3090", "t4", "v100"}) {
        const auto asked = [&](const char* fresh, const char* old) {
            return output({"--model", "mixtral-d1", "--new", fresh + std::string(":6"), "--old",
                           old + std::string(":6"), "--seq", "4096"});
        };
        EXPECT_THAT(asked(device, "v100"), HasSubstr("micro-batches/s")) << device;
        EXPECT_THAT(asked("a100", device), HasSubstr("micro-batches/s")) << device;
    }
}

TEST_F(HetermoePlanCommand, WhatAProfileDoesNotSayOfAttentionIsSaidAndCanBeGiven) {
    const auto warning_of = [&](const std::string& fresh) {
        ::testing::internal::CaptureStderr();
        output({"--model", "mixtral-d1", "--new", fresh, "--old", "v100:6", "--seq", "4096"});
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(warning_of("h100:6"), HasSubstr("taken as fused"));
    EXPECT_EQ(warning_of("a40:6"), "");
    // The remedy that it prints.
    const std::string mine = (folder_ / "mine.toml").string();
    std::ofstream(mine) << to_toml(device_profile("h100"))
                        << "[attention]\nvalue = \"materialised\"\nkind = \"assumed\"\n"
                           "source = \"old kernels\"\n";
    EXPECT_EQ(warning_of(mine + ":6"), "");
}

TEST_F(HetermoePlanCommand, PrintsThePromisedJson) {
    const json found = plan({}, "attention_s = 2\n");
    EXPECT_THAT(keys(found),
                ElementsAre("best", "home", "infeasible", "options", "rivals", "warnings"));
    ASSERT_EQ(found.at("options").size(), 2u);
    const json& option = found.at("options")[0];
    EXPECT_THAT(keys(option),
                ElementsAre("groups", "makespan_s", "micro_batches", "new", "new_busy", "offload",
                            "old", "old_busy", "per_s", "sync_s"));
    EXPECT_EQ(option.at("offload"), (json{0, 1, 1}));
    EXPECT_DOUBLE_EQ(option.at("makespan_s"), 35);
    EXPECT_EQ(option.at("sync_s"), 0);
    EXPECT_DOUBLE_EQ(option.at("per_s"), 3.0 / 35);
    EXPECT_DOUBLE_EQ(option.at("new_busy"), 4 * (9 * 0.75 + 0.8) / 35);
    EXPECT_DOUBLE_EQ(option.at("old_busy"), 4 * (9 - 1.0) / 35);
    EXPECT_TRUE(found.at("infeasible").empty() && found.at("infeasible").is_array());
    // Two new GPUs and one old: T_E is 2, T_X 1.6, a chunk two experts; 1.25 is gathered, and a
    // chunk squeezes (2·2 + 1.6) / 6 of it: 1.34 chunks in every layer.
    EXPECT_EQ(found.at("options")[1].at("offload"), (json{2, 2, 4}));
    EXPECT_EQ(found.at("best"), 1);
    EXPECT_EQ(found.at("home"), (json{{2, 2, 2, 2, 0, 1}, {2, 2, 2, 2, 0, 1}, {2, 2, 0, 0, 1, 1}}));
    EXPECT_DOUBLE_EQ(found.at("rivals").at("ep"), 3 / (4 * 3 * 3.0));
    EXPECT_DOUBLE_EQ(found.at("rivals").at("ep_ideal"), 2 / (4 * 3 * 1.55) + 1 / 36.0);
    EXPECT_TRUE(found.at("warnings").is_array());
}

TEST_F(HetermoePlanCommand, DefaultsAndOptionsMeanWhatTheySay) {
    const json usual = plan({});
    EXPECT_EQ(usual, plan({"--asym", "published", "--backward", "3"}));
    EXPECT_TRUE(usual.at("rivals").is_null());
    EXPECT_FALSE(usual.contains("timeline"));
    EXPECT_EQ(plan({"--asym", "off"}).at("options")[0].at("offload"), (json{0, 0, 0}));
    EXPECT_DOUBLE_EQ(plan({"--asym", "off", "--backward", "0.5"}).at("options")[0].at("old_busy"),
                     13.5 / plan({"--asym", "off", "--backward", "0.5"})
                                .at("options")[0]
                                .at("makespan_s")
                                .get<double>());
    EXPECT_LE(plan({"--asym", "search"}).at("options")[1].at("makespan_s"),
              usual.at("options")[1].at("makespan_s"));
}

TEST_F(HetermoePlanCommand, ShowsWhenEachTaskRuns) {
    const json found = plan({"--timeline"});
    const json& tasks = found.at("timeline");
    // 6 of each layer and micro-batch forward and backward, X tasks among them, and the head's 2.
    EXPECT_EQ(tasks.size(), 3u * 3 * 10 + 3 * 2);
    EXPECT_EQ(
        tasks[0],
        (json{{"task", "AF"}, {"layer", 1}, {"micro_batch", 1}, {"start_s", 0}, {"end_s", 0.75}}));
    double last = 0, end = 0;
    for (const json& task : tasks) {
        EXPECT_GE(task.at("start_s"), last);
        last = task.at("start_s");
        end = std::max(end, task.at("end_s").get<double>());
        EXPECT_LE(task.at("layer"), 4);
    }
    EXPECT_EQ(end, found.at("options")[1].at("makespan_s"));
}

TEST_F(HetermoePlanCommand, PrintsAPageForPeople) {
    EXPECT_EQ(
        output({"--profile", file("attention_s = 2\n"), "--backward", "1"}),
        R"(2 new GPUs and 1 old GPU; 3 layers of 6 experts; backward 1 times forward; experts moved: published

best: 1 group of 2 new GPUs for attention and 1 old GPU for experts, 3 micro-batches per step:
      0.2703 micro-batches/s
      a step takes 22.2 s and its gradients 0 s; new GPUs compute 89.6% of the step, old ones 90.1%
      experts that each old GPU gives up, layer by layer (it has 6): 2 2 4

rivals: splitting beats plain expert parallelism, but not each kind training for itself: 1.62 times
        expert parallelism over all GPUs (0.1667 micro-batches/s), 0.999 times both kinds apart,
        added (0.2706)

the fastest 2 of 2 options; 0 of 2 groups do not fit
new  old  groups  micro-batches  moved  step s  gradients s  micro-batches/s  new busy  old busy
───  ───  ──────  ─────────────  ─────  ──────  ───────────  ───────────────  ────────  ────────
  2    1       1              3      8    22.2            0           0.2703     89.6%     90.1%
  1    1       1              3      2    17.5            0           0.1714     86.3%     91.4%

new, old: GPUs of a group. moved: experts of all layers on new GPUs. micro-batches/s: of all groups,
each micro-batch that of one new GPU. Times are computed from the profile, exactly; nothing was run.
)");
}

TEST_F(HetermoePlanCommand, PlansForAModelOfThePaper) {
    setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1);
    const std::vector<std::string> setup{"--model", "mixtral-d1", "--new", "a40:6",
                                         "--old",   "v100:6",     "--seq", "8192"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), setup.begin(), setup.end());
        return more;
    };
    // What is shown is what is planned for.
    const std::string name = (folder_ / "shown.toml").string();
    std::ofstream(name) << output(with({"--show-profile"}));
    EXPECT_EQ(output(with({"--json"})), output({"--profile", name, "--json"}));
    EXPECT_GT(json::parse(output(with({"--json"}))).at("rivals").at("ep"), 0);

    EXPECT_THAT(error({"--model", "mixtral-d1", "--new", "a40:6", "--seq", "8192"}),
                HasSubstr("--model needs"));
    EXPECT_THAT(error({"--model", "mixtral-d1", "--new", "a40", "--old", "v100:6", "--seq", "8"}),
                HasSubstr("--new a40: give a device profile"));
    EXPECT_THAT(error(with({"--network", "nowhere"})), HasSubstr("no cluster profile"));
    EXPECT_THROW(output(with({"--profile", file()})), CLI::ParseError);
    EXPECT_THROW(output({"--model", "gpt", "--new", "a40:6"}), CLI::ParseError);
    EXPECT_THROW(output({"--profile", file(), "--seq", "8"}), CLI::ParseError);
    EXPECT_THROW(output({"--profile", file(), "--show-profile"}), CLI::ParseError);
}

TEST_F(HetermoePlanCommand, SaysWhatIsWrongAndHowToMendIt) {
    EXPECT_THAT(error({"--profile", "nowhere.toml"}), HasSubstr("No such file"));
    EXPECT_THAT(error({"--profile", folder_.string()}), HasSubstr("a folder"));
    for (const char* factor : {"0", "-1", "nan", "inf", "x", "", "-0.5", "0x3"})
        EXPECT_THAT(error({"--profile", file(), "--backward", factor}), HasSubstr("--backward"))
            << factor;
    EXPECT_THAT(error({"--profile", file(), "--backward", "1e-60"}), HasSubstr("fewer digits"));
    EXPECT_THAT(error({"--profile", file("capacity = 3\n"), "--asym", "off"}),
                HasSubstr("no group"));
    EXPECT_THAT(error({"--profile", file("speed = 3\n")}), HasSubstr("p.toml:13:9: old: 'speed'"));
    EXPECT_THROW(output({"--profile", file(), "--asym", "never"}), CLI::ParseError);
    EXPECT_THAT(error({"--json"}), HasSubstr("give --profile FILE, or --model"));
}

}  // namespace
}  // namespace assay::hetermoe
