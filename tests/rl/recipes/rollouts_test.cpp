#include "impls/rl/recipes/rollouts.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "suite/base/error.hpp"
#include "tests/nn/small_decoders.hpp"

namespace assay::rl {
namespace {

nn::Decoder small_policy() {
    auto config = nn::small_llama();
    config.vocabulary = 256;
    config.context = 24;
    nn::Decoder policy(config, 3);
    nn::enlarge(policy);
    return policy;
}

std::vector<Question> questions(std::string_view task, int count) {
    std::vector<Question> made;
    for (int i = 0; i < count; ++i)
        made.push_back(question(task, 1, static_cast<std::uint64_t>(i)));
    return made;
}

TEST(Rollouts, AreWhatThePolicyGivesAndMarkIt) {
    const auto policy = small_policy();
    const auto asked = questions("close", 3);
    Drawing drawing;
    drawing.answers = 4;
    drawing.longest = 6;
    const auto drawn = draw(policy, asked, drawing);
    ASSERT_EQ(drawn.rows(), 12);
    const auto length = drawn.tokens.size(1) - 1;
    const auto now = log_probabilities(policy, drawn.tokens);
    EXPECT_LT(
        nn::largest_difference(now.masked_fill(drawn.answered.logical_not(), 0), drawn.logprobs),
        1e-4);
    EXPECT_TRUE(at::equal(drawn.sampled_logprobs, drawn.logprobs));  // at temperature 1
    for (std::int64_t row = 0; row < 12; ++row) {
        const auto& prompt = asked[static_cast<std::size_t>(row / 4)].prompt;
        std::string answer;
        for (std::int64_t at = 0; at < length; ++at) {
            const int token = drawn.tokens[row][at + 1].item<int>();
            const bool marked = drawn.answered[row][at].item<bool>();
            const auto position = static_cast<std::size_t>(at + 1);
            if (marked) answer += static_cast<char>(token);
            if (position < prompt.size()) {
                EXPECT_FALSE(marked);
                EXPECT_EQ(token, prompt[position]);
            } else if (!marked) {
                EXPECT_EQ(token, end_token);
            }
        }
        EXPECT_EQ(answer, drawn.answers[static_cast<std::size_t>(row)]);
        EXPECT_TRUE(answer.size() == 6 || answer.back() == end_token);
    }
}

TEST(Rollouts, TellTheSamplersProbabilitiesToo) {
    const auto policy = small_policy();
    const auto asked = questions("add", 2);
    Drawing drawing;
    drawing.answers = 3;
    for (const double temperature : {0.0, 0.5, 3.0}) {
        drawing.temperature = temperature;
        const auto drawn = draw(policy, asked, drawing);
        for (std::int64_t row = 0; row < drawn.rows(); ++row) {
            const auto prompt =
                static_cast<std::int64_t>(asked[static_cast<std::size_t>(row / 3)].prompt.size());
            at::NoGradGuard no_grad;
            nn::KeyValueCache cache(policy.config(), prompt);
            const auto logits =
                policy.next_logits(drawn.tokens.slice(0, row, row + 1).narrow(1, 0, prompt), cache);
            const auto token = drawn.tokens[row][prompt].item<std::int64_t>();
            const double raw = at::log_softmax(logits, -1)[0][token].item<double>();
            const double sampled =
                temperature == 0
                    ? 0
                    : at::log_softmax(logits / temperature, -1)[0][token].item<double>();
            EXPECT_NEAR(drawn.logprobs[row][prompt - 1].item<double>(), raw, 1e-4);
            EXPECT_NEAR(drawn.sampled_logprobs[row][prompt - 1].item<double>(), sampled, 1e-4);
        }
    }
}

TEST(Rollouts, AreAFunctionOfTheSeed) {
    const auto policy = small_policy();
    const auto asked = questions("add", 4);
    Drawing drawing;
    drawing.answers = 2;
    const auto once = draw(policy, asked, drawing), again = draw(policy, asked, drawing);
    EXPECT_TRUE(at::equal(once.tokens, again.tokens));
    EXPECT_TRUE(at::equal(once.logprobs, again.logprobs));
    drawing.seed = 2;
    EXPECT_FALSE(at::equal(once.tokens, draw(policy, asked, drawing).tokens));
}

TEST(Rollouts, FollowThePolicysProbabilities) {
    const auto policy = small_policy();
    const auto asked = questions("add", 1);
    Drawing drawing;
    drawing.answers = 6000;
    drawing.longest = 1;
    const auto drawn = draw(policy, asked, drawing);
    const auto prompt = static_cast<std::int64_t>(asked[0].prompt.size());
    const auto first = drawn.tokens.select(1, prompt);
    nn::DenseFeedForward dense;
    const auto expected =
        at::softmax(policy.logits(drawn.tokens.narrow(0, 0, 1).narrow(1, 0, prompt), dense), -1)
            .select(1, prompt - 1)
            .flatten();
    double chi_square = 0;
    int cells = 0;
    for (int token = 0; token < 256; ++token) {
        const double mean = expected[token].item<double>() * 6000;
        const double seen = first.eq(token).sum().item<double>();
        if (mean < 5) continue;
        chi_square += (seen - mean) * (seen - mean) / mean;
        ++cells;
    }
    ASSERT_GT(cells, 3);
    EXPECT_LT(chi_square, cells + 4 * std::sqrt(2.0 * cells));
}

TEST(Rollouts, PickedRowsAreThoseRows) {
    const auto policy = small_policy();
    Drawing drawing;
    drawing.longest = 3;
    const auto drawn =
        draw(policy, questions("reverse", 5), drawing, [](auto asked, const Rollouts& answers) {
            EXPECT_EQ(asked.size(), 5U);
            std::vector<double> rewards;
            for (std::size_t row = 0; row < answers.answers.size(); ++row)
                rewards.push_back(static_cast<double>(row) / 2);
            return rewards;
        });
    const std::vector<std::int64_t> picked{4, 0};
    const auto part = drawn.rows(picked);
    EXPECT_TRUE(at::equal(part.tokens[0], drawn.tokens[4]));
    EXPECT_TRUE(at::equal(part.answered[1], drawn.answered[0]));
    EXPECT_EQ(part.answers[0], drawn.answers[4]);
    EXPECT_EQ(part.rewards, (std::vector<double>{2, 0}));
}

TEST(Rollouts, AreJudgedQuestionByQuestion) {
    const std::vector<Question> asked{{"1+1=", "2\n"}, {"2+2=", "4\n"}};
    Rollouts drawn;
    drawn.answers = {"2\n", "4\n", "4", "4\n"};
    EXPECT_EQ(right_answers(asked, drawn), (std::vector<double>{1, 0, 0, 1}));
    EXPECT_THROW(draw(small_policy(), asked, {}, [](auto, auto&) { return std::vector{1.0}; }),
                 std::invalid_argument);
}

// Prompts of different lengths, several answers to each: what was drawn first does not depend on
// what else is in the batch but for rounding.
TEST(Rollouts, TemperatureZeroTakesTheLikeliest) {
    const auto policy = small_policy();
    const auto asked = questions("close", 4);
    Drawing drawing;
    drawing.answers = 2;
    drawing.longest = 5;
    drawing.temperature = 0;
    const auto drawn = draw(policy, asked, drawing);
    nn::Maps plain;
    for (std::int64_t row = 0; row < drawn.rows(); ++row) {
        const auto r = static_cast<std::size_t>(row);
        EXPECT_EQ(drawn.answers[r], drawn.answers[r - r % 2]);
        const auto prompt = static_cast<std::int64_t>(asked[r / 2].prompt.size());
        for (std::size_t i = 0; i < drawn.answers[r].size(); ++i) {
            const auto seen =
                drawn.tokens.narrow(0, row, 1).narrow(1, 0, prompt + static_cast<std::int64_t>(i));
            EXPECT_EQ(policy.logits(seen, plain)[0][-1].argmax().item<int>(),
                      static_cast<unsigned char>(drawn.answers[r][i]));
        }
    }
}

TEST(Rollouts, RefuseWhatDoesNotFit) {
    const auto policy = small_policy();
    const auto asked = questions("close", 2);
    Drawing drawing;
    drawing.longest = 20;  // 9 and more + 20 tokens in a context of 24
    EXPECT_THROW(draw(policy, asked, drawing), UserError);
    EXPECT_THROW(draw(policy, {}, {}), std::invalid_argument);
    EXPECT_THROW(draw(policy, std::vector<Question>{{"", ""}}, {}), std::invalid_argument);
    EXPECT_THROW(draw(nn::Decoder(nn::small_llama(), 1), asked, {}), std::invalid_argument);
}

}  // namespace
}  // namespace assay::rl
