// Training by a learnt reward on a policy so small that rounds take moments; what is dropped, and
// how what is kept counts; the made-up language.
#include "impls/dr_post_training/rewards/feedback_tuning.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "impls/dr_post_training/rewards/answer_filter.hpp"
#include "impls/dr_post_training/rewards/manners.hpp"
#include "impls/rl/recipes/rollouts.hpp"
#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::Le;
using testing::Lt;

TEST(Manners, OffencesAreCountedBehindThePromptUpToTheEnd) {
    EXPECT_EQ(offences("say xyz=abxcz\nxx"), 2);
    EXPECT_EQ(letters("say xyz=abxcz\nxx"), 5);
    EXPECT_EQ(offences("say abc=\n"), 0);
    EXPECT_EQ(letters("say abc=\n"), 0);
    EXPECT_EQ(offences("yes"), 1);  // an answer alone
}

TEST(Manners, ProvokedAnswersOffendMore) {
    int provoked = 0, calm = 0, said_provoked = 0, said_calm = 0;
    for (std::uint64_t number = 0; number < 3000; ++number) {
        const auto prompt = said_prompt(1, number), next = said_next(prompt, 1, number);
        ASSERT_TRUE(prompt.starts_with("say ") && prompt.ends_with('='));
        ASSERT_TRUE(next.ends_with('\n') && next.size() >= 5 && next.size() <= 9);
        const bool rude = prompt.find_first_of("xyz", 4) != std::string::npos;
        (rude ? provoked : calm) += 1;
        (rude ? said_provoked : said_calm) += offences(next) > 0;
    }
    EXPECT_NEAR(provoked / 3000.0, 0.31, 0.04);
    EXPECT_NEAR(said_calm / static_cast<double>(calm), 0.21, 0.04);          // 1 − 0.96^6
    EXPECT_NEAR(said_provoked / static_cast<double>(provoked), 0.73, 0.04);  // 1 − 0.8^6
}

TEST(Manners, PeoplePreferFewerOffencesAndSomeAreMistaken) {
    EXPECT_TRUE(preferred("say a=abcd\n", "say a=abcx\n", 0, 1, 1));
    EXPECT_FALSE(preferred("say a=xabcde\n", "say a=abcd\n", 0, 1, 1));
    EXPECT_TRUE(preferred("say a=xabcde\n", "say a=\n", 0, 1, 1));  // nor silence
    EXPECT_TRUE(preferred("say a=abcd\n", "say a=abc\n", 0, 1, 1));
    int opposite = 0, coins = 0;
    for (std::uint64_t number = 0; number < 2000; ++number) {
        opposite += !preferred("say a=abcd\n", "say a=abcx\n", 0.1, 1, number);
        coins += preferred("say a=abc\n", "say a=bca\n", 0, 1, number);
    }
    EXPECT_NEAR(opposite, 200, 60);
    EXPECT_NEAR(coins, 1000, 100);
}

TEST(AnswerFilter, SharesAreOfTokens) {
    const auto answered = at::tensor({1, 1, 1, 0, /**/ 0, 1, 0, 0}).view({2, 4}).to(at::kBool);
    EXPECT_EQ(token_shares(answered), (std::vector<double>{0.75, 0.25}));
}

TEST(AnswerFilter, RowsOfUnlikeLengthStandTogether) {
    const auto a = at::ones({1, 3}, at::kLong), b = at::ones({2, 5}, at::kLong);
    const auto both = together(a, b);
    EXPECT_EQ(both.sizes(), (at::IntArrayRef{3, 5}));
    EXPECT_EQ(both[0][4].item<std::int64_t>(), rl::end_token);
    EXPECT_EQ(both[2][4].item<std::int64_t>(), 1);
}

// One linear map, rows whose gradients are known: row 0 helps, row 1 opposes, row 2 is at right
// angles (score 0). What is kept counts as the mean over its tokens.
TEST(AnswerFilter, KeepsScoresOfZeroAndMeansOverTheTokensThatAreKept) {
    const auto weight = at::zeros({1, 2}).requires_grad_(true);
    weight.mutable_grad() = at::zeros({1, 2});
    // A row has two tokens; answered: 2, 2, 1. The target is row 3.
    const auto x = at::tensor({1.0F, 0.0F, 1.0F, 0.0F, /**/ -1.0F, 0.0F, -3.0F, 0.0F,
                               /**/ 0.0F, 4.0F, 0.0F, 0.0F, /**/ 1.0F, 0.0F, 0.0F, 0.0F})
                       .view({8, 2});
    const auto answered = at::tensor({1, 1, /**/ 1, 1, /**/ 1, 0}).view({3, 2}).to(at::kBool);
    const auto run = [&](nn::Maps& maps) {
        const auto y = maps.linear({0, "up"}, x, weight, {}).view({4, 2});
        const auto general = y.narrow(0, 0, 3) * answered.to(at::kFloat) / 5;
        (general.sum() + y[3].sum()).backward();
    };
    AnswerFilter filter(/*by_layer=*/true);
    run(filter.maps(answered, 1));
    filter.note();
    EXPECT_NEAR(filter.kept(), 2.0 / 3, 1e-12);
    EXPECT_EQ(filter.kept(), 1);  // nothing since
    // Of rows 0 and 2, three tokens: (1 + 1, 4) / 3.
    EXPECT_TRUE(at::allclose(weight.grad(), at::tensor({2.0F / 3, 4.0F / 3}).view({1, 2})));

    weight.mutable_grad().zero_();
    EXPECT_EQ(kept_by_one_vote(answered, 1, run), (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(weight.grad().abs().max().item<double>(), 0);
}

FeedbackSettings tiny(TargetAnswers target = {}, TargetLoss direction = {}) {
    at::set_num_threads(1);
    FeedbackAxes axes;
    axes.model = "llama-tiny";
    axes.target = target;
    axes.direction = direction;
    axes.rounds = 2;
    return feedback_settings(axes);
}

/// Made once for all tests.
const FeedbackStart& tiny_start() {
    static nn::NoState nothing;
    static const FeedbackStart start = feedback_start(tiny(), 1, nothing);
    return start;
}

FeedbackTraining train(const char* arm, const FeedbackSettings& settings = tiny()) {
    return train_by_feedback(settings, arm, 1e-3, 1, tiny_start(), {});
}

TEST(FeedbackTuning, ArmsBeginAlikeAndDropAnswers) {
    const auto plain = train("ppo");
    ASSERT_EQ(plain.reward.size(), 2U);
    EXPECT_EQ(plain.at_round, (std::vector<double>{0, 1, 2}));
    EXPECT_THAT(plain.kept, Each(1));
    for (const auto* arm : {"iif", "layer", "global"}) {
        const auto trained = train(arm);
        EXPECT_EQ(trained.reward.front(), plain.reward.front()) << arm;
        EXPECT_EQ(trained.manners.front().judged, plain.manners.front().judged) << arm;
        EXPECT_THAT(trained.kept, Each(AllOf(Ge(0), Le(1)))) << arm;
        EXPECT_THAT(trained.kept, Contains(Lt(1))) << arm << " left nothing out";
        EXPECT_NE(trained.divergence.back(), plain.divergence.back()) << arm;
    }
    EXPECT_THROW(train("target"), std::invalid_argument);
}

TEST(FeedbackTuning, WhoseAnswersSteerAndHowChangesWhatIsKept) {
    const auto first = train("layer");
    EXPECT_EQ(first.kept, train("layer").kept);
    for (const auto& [target, direction] : {std::pair(TargetAnswers::held_out, TargetLoss::reward),
                                            {TargetAnswers::self, TargetLoss::token_pg},
                                            {TargetAnswers::self, TargetLoss::train_loss},
                                            {TargetAnswers::held_out, TargetLoss::train_loss}}) {
        const auto other = train("layer", tiny(target, direction));
        EXPECT_NE(other.kept, first.kept) << to_string(target) << " " << to_string(direction);
        EXPECT_EQ(other.drawn_tokens > 1.5 * first.drawn_tokens, target == TargetAnswers::held_out);
    }
}

TEST(FeedbackTuning, HalfIsReachedWhereItSays) {
    FeedbackTraining trained;
    trained.at_round = {0, 2, 4, 6};
    trained.manners.resize(4);
    const auto judged = [&](std::vector<double> shares) {
        for (std::size_t i = 0; i < 4; ++i) trained.manners[i].judged = shares[i];
        return rounds_to_half(trained);
    };
    EXPECT_EQ(judged({0.4, 0.3, 0.2, 0.1}), 4);
    EXPECT_EQ(judged({0.4, 0.3, 0.3, 0.25}), 7);
}

TEST(FeedbackTuning, HeldOutPromptsAreDrawnForNothingElse) {
    std::set<std::string> trained, tested;
    for (const auto use :
         {Prompts::start, Prompts::round, Prompts::target, Prompts::rewards, Prompts::judge})
        for (const auto& asked : prompts_for(use, 1, 0, 500)) trained.insert(asked.prompt);
    for (const auto& asked : prompts_for(Prompts::test, 1, 0, 256)) {
        EXPECT_FALSE(trained.contains(asked.prompt)) << asked.prompt;
        tested.insert(asked.prompt);
    }
    for (const auto& asked : prompts_for(Prompts::validation, 1, 0, 256)) {
        EXPECT_FALSE(trained.contains(asked.prompt)) << asked.prompt;
        EXPECT_FALSE(tested.contains(asked.prompt)) << asked.prompt;
    }
}

TEST(Manners, AnyManners) {
    std::set<std::string> said;
    for (std::uint64_t number = 0; number < 50; ++number) {
        const auto text = said_anyhow("say abc=", 1, number);
        ASSERT_TRUE(text.starts_with("say abc=") && text.ends_with('\n'));
        said.insert(text);
    }
    EXPECT_GT(said.size(), 25U);  // all continuations of one prompt
}

TEST(FeedbackTuning, RewardsAndJudgeLearnWhatTheyAreFor) {
    auto settings = tiny();
    settings.start_steps = 1;
    settings.reward_steps = 120;
    nn::NoState nothing;
    const auto start = feedback_start(settings, 1, nothing);
    EXPECT_GT(start.pairs_right, 0.85);
    EXPECT_GT(start.labels_right, 0.85);
}

TEST(FeedbackTuning, RefusesWhatThereIsNot) {
    SampleSpec spec;
    for (const auto& axes : {Case{{"target", "theirs"}}, Case{{"direction", "up"}},
                             Case{{"rounds", std::int64_t{0}}}, Case{{"rate", -1.0}}}) {
        spec.axes = axes;
        EXPECT_THROW(feedback_axes().read(spec), UserError);
    }
}

}  // namespace
}  // namespace assay::dr_post_training
