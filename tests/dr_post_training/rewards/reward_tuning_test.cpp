// Training by reward on a policy so small that rounds take moments.
#include "impls/dr_post_training/rewards/reward_tuning.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::Gt;
using testing::Le;
using testing::Lt;

RewardSettings tiny() {
    at::set_num_threads(1);
    RewardAxes axes;
    axes.model = "llama-tiny";
    axes.rounds = 3;
    auto settings = reward_settings(axes);
    settings.start_steps = 200;  // so that it answers some rightly, and others not
    settings.start_rate = 5e-3;
    settings.answers = 8;
    settings.questions = 6;
    settings.rows_a_step = 12;
    return settings;
}

constexpr double rate = 3e-4;

/// Made once for all tests; what is trained is a copy.
const nn::Decoder& start() {
    static nn::NoState nothing;
    static const nn::Decoder made = started_policy(tiny(), 1, nothing);
    return made;
}

TEST(RewardTuning, ArmsSeeTheSameRoundsUntilTheyLearn) {
    const auto settings = tiny();
    const auto& policy = start();
    const auto full = train_by_reward(settings, "full", rate, 1, policy, {});
    ASSERT_EQ(full.reward.size(), 3U);
    EXPECT_THAT(full.kept, Each(1));
    EXPECT_THAT(full.reward, Contains(AllOf(Gt(0), Lt(1)))) << "nothing tells answers apart";
    for (const auto* arm : {"global", "layer"}) {
        const auto trained = train_by_reward(settings, arm, rate, 1, policy, {});
        EXPECT_EQ(trained.reward.front(), full.reward.front()) << arm;
        EXPECT_EQ(trained.accuracy.front(), full.accuracy.front()) << arm;
        EXPECT_THAT(trained.kept, Each(AllOf(Ge(0), Le(1)))) << arm;
        EXPECT_THAT(trained.kept, Contains(Lt(1))) << arm << " left nothing out";
        auto once = settings;  // of one round, where only the target's answers are more
        once.rounds = 1;
        EXPECT_GT(train_by_reward(once, arm, rate, 1, policy, {}).drawn_tokens,
                  train_by_reward(once, "full", rate, 1, policy, {}).drawn_tokens)
            << arm;
    }
}

TEST(RewardTuning, TestQuestionsAreAskedForNothingElse) {
    auto settings = tiny();
    for (const auto* task : {"reverse", "close", "add"}) {
        settings.task = task;
        std::set<std::string> trained;
        for (const auto use : {Questions::start, Questions::round, Questions::target})
            for (const auto& asked : questions_for(settings, use, 1, 0, 500))
                trained.insert(asked.prompt);
        std::set<std::string> tested;
        for (const auto& asked : questions_for(settings, Questions::test, 1, 0, 256)) {
            EXPECT_FALSE(trained.contains(asked.prompt)) << asked.prompt;
            tested.insert(asked.prompt);
        }
        for (const auto& asked : questions_for(settings, Questions::validation, 1, 0, 256)) {
            EXPECT_FALSE(trained.contains(asked.prompt)) << asked.prompt;
            EXPECT_FALSE(tested.contains(asked.prompt)) << asked.prompt;
        }
        EXPECT_GT(tested.size(), 64U) << task;  // they differ
        std::set<std::string> different;
        for (const auto& asked : different_questions(settings, Questions::test, 1, 192)) {
            EXPECT_TRUE(different.insert(asked.prompt).second) << asked.prompt;
            EXPECT_LE(asked.prompt.size(), settings.longest_prompt);
            EXPECT_FALSE(trained.contains(asked.prompt)) << asked.prompt;
        }
        EXPECT_EQ(different.size(), 192U) << task;
    }
}

// The split is by chance: held-out questions are like the others, letter by letter.
TEST(RewardTuning, TestQuestionsAreLikeTheOthers) {
    for (const auto* task : {"reverse", "close", "add"}) {
        RewardAxes axes;
        axes.task = task;
        const auto settings = reward_settings(axes);
        const auto letters = [&](Questions use, std::size_t at) {
            std::map<char, int> seen;
            for (const auto& asked : questions_for(settings, use, 1, 0, 400))
                ++seen[asked.prompt.at(at)];
            return seen;
        };
        // Of the first two letters behind the task's word.
        const auto space = questions_for(settings, Questions::round, 1, 0, 1)[0].prompt.find(' ');
        const std::size_t from = space == std::string::npos ? 0 : space + 1;
        for (std::size_t at = from; at < from + 2; ++at) {
            const auto trained = letters(Questions::round, at);
            for (const auto use : {Questions::test, Questions::validation}) {
                const auto held_out = letters(use, at);
                for (const auto& [letter, count] : trained) {
                    if (count < 40) continue;
                    EXPECT_TRUE(held_out.contains(letter)) << task << " " << at << letter;
                }
            }
        }
    }
}

TEST(RewardTuning, EarlyIsTheRoundThatItSays) {
    EXPECT_EQ(early_round(80), 12);  // the paper's
    EXPECT_EQ(early_round(50), 8);
    EXPECT_EQ(early_round(1), 1);
    auto settings = tiny();
    settings.evaluate_every = 3;
    const auto trained = train_by_reward(settings, "full", rate, 1, start(), {});
    EXPECT_EQ(trained.at_round, (std::vector<double>{0, 1, 3}));
    EXPECT_EQ(trained.early_accuracy, trained.accuracy[1]);
}

TEST(RewardTuning, IsAFunctionOfItsArguments) {
    const auto settings = tiny();
    const auto& policy = start();
    const auto once = train_by_reward(settings, "layer", rate, 2, policy, {});
    const auto again = train_by_reward(settings, "layer", rate, 2, policy, {});
    EXPECT_EQ(once.reward, again.reward);
    EXPECT_EQ(once.kept, again.kept);
    EXPECT_EQ(once.accuracy, again.accuracy);
}

TEST(RewardTuning, AStartThatWasKeptIsTakenAgain) {
    auto settings = tiny();
    settings.start_steps = 20;
    struct Kept : nn::StateKeeper {
        std::map<std::string, std::string> files;
        void save(const std::string& name,
                  const std::function<void(std::ostream&)>& write) override {
            std::ostringstream out;
            write(out);
            files[name] = out.str();
        }
        bool load(const std::string& name,
                  const std::function<void(std::istream&)>& read) override {
            if (!files.contains(name)) return false;
            std::istringstream in(files[name]);
            read(in);
            return true;
        }
        std::shared_ptr<void> hold(const std::string&) override { return nullptr; }
    } states;
    const auto made = started_policy(settings, 1, states);
    settings.start_steps = 0;  // would know nothing, were it made anew
    const auto taken = started_policy(settings, 1, states);
    for (std::size_t i = 0; i < made.blocks().size(); ++i)
        EXPECT_TRUE(made.blocks()[i]->values().equal(taken.blocks()[i]->values()));
    states.files["start"].pop_back();
    EXPECT_THROW(started_policy(settings, 1, states), UserError);
}

TEST(RewardTuning, RefusesWhatThereIsNot) {
    const auto settings = tiny();
    EXPECT_THROW(train_by_reward(settings, "target", rate, 1, start(), {}), std::invalid_argument);
    SampleSpec spec;
    spec.axes = {{"model", "gpt"}};
    EXPECT_THROW(reward_axes().read(spec), UserError);
    for (const auto& axes :
         {Case{{"rounds", std::int64_t{0}}}, Case{{"rate", 0.0}}, Case{{"rate", 1.0}},
          Case{{"rate", "fast"}}, Case{{"task", "subtract"}}}) {
        spec.axes = axes;
        EXPECT_THROW(reward_axes().read(spec), UserError);
    }
    spec.axes = {{"rate", 0.01}};
    EXPECT_EQ(reward_settings(reward_axes().read(spec)).rates, std::vector{0.01});
    spec.axes = {{"rate", "0.02"}};  // as the command line has it
    EXPECT_EQ(reward_settings(reward_axes().read(spec)).rates, std::vector{0.02});
}

}  // namespace
}  // namespace assay::dr_post_training
