#include "impls/nn/text/scored_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/text/small_vocabulary.hpp"

namespace assay::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::string scored_text(const ScoredRow& row) {
    std::string text;
    for (std::size_t i = 0; i < row.tokens.size(); ++i)
        if (row.scored[i]) text += static_cast<char>(row.tokens[i]);
    return text;
}

std::vector<ScoredRow> parse(std::string_view text, int context = 100) {
    return parse_scored_rows(text, "rows.jsonl", Tokenizer::bytes(),
                             {.context = context, .default_system = ""});
}

std::string refusal(std::string_view text, int context = 100) {
    try {
        parse(text, context);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(ScoredRows, TheCompletionIsScoredAndThePromptIsNot) {
    const auto rows = parse(
        "{\"prompt\": \"1+1=\", \"completion\": \"2\\n\", \"source\": 3}\n\n"
        "{\"text\": \"abc\"}\n");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].tokens.size(), 6U);
    EXPECT_EQ(scored_text(rows[0]), "2\n");
    EXPECT_EQ(rows[0].scored_tokens(), 2U);
    EXPECT_EQ(scored_text(rows[1]), "abc");
    EXPECT_EQ(rows[1].scored_tokens(), 2U);  // nothing predicts the first token
}

TEST(ScoredRows, AreCutToTheContext) {
    const auto rows = parse("{\"prompt\": \"123\", \"completion\": \"45678\"}", 5);
    EXPECT_EQ(rows[0].tokens.size(), 6U);
    EXPECT_EQ(scored_text(rows[0]), "456");
}

TEST(ScoredRows, OfAChatTheAnswersAndTheirEndsAreScored) {
    const Tokenizer tokenizer(testing::chat_vocabulary());
    const std::string line =
        R"({"messages": [{"role": "user", "content": "hi<|im_end|>"},)"
        R"({"role": "assistant", "content": "yo"}, {"role": "user", "content": "?"},)"
        R"({"role": "assistant", "content": "!"}]})";
    const auto rows =
        parse_scored_rows(line, "chat", tokenizer, {.context = 200, .default_system = "be good"});
    ASSERT_EQ(rows.size(), 1U);
    const auto& row = rows.front();
    EXPECT_EQ(tokenizer.decode(row.tokens),
              "<|im_start|>system\nbe good<|im_end|>\n<|im_start|>user\nhi<|im_end|><|im_end|>\n"
              "<|im_start|>assistant\nyo<|im_end|>\n<|im_start|>user\n?<|im_end|>\n"
              "<|im_start|>assistant\n!<|im_end|>\n");
    std::vector<int> scored;
    for (std::size_t i = 0; i < row.tokens.size(); ++i)
        if (row.scored[i]) scored.push_back(row.tokens[i]);
    EXPECT_EQ(tokenizer.decode(scored), "yo<|im_end|>!<|im_end|>");
    // What a user writes is no end of his turn.
    EXPECT_EQ(std::count(row.tokens.begin(), row.tokens.end(), 257), 5);
}

TEST(ScoredRows, BytesWithoutATokenAreNamedWithTheirLine) {
    Vocabulary vocabulary = testing::chat_vocabulary();
    vocabulary.tokens['\r'] = {"<no carriage return>", TokenKind::control};
    const Tokenizer tokenizer(vocabulary);
    for (const char* const row :
         {R"({"text": "a\r\n"})", R"({"messages": [{"role": "assistant", "content": "a\r"}]})"})
        EXPECT_THAT(
            [&] {
                parse_scored_rows(std::string("{\"text\": \"ab\"}\n") + row, "rows.jsonl",
                                  tokenizer);
            },
            ThrowsMessage<UserError>(
                AllOf(StartsWith("rows.jsonl:2: "), HasSubstr("the first is 0x0d"))));
}

TEST(ScoredRows, BadLinesAreNamed) {
    const std::string good = "{\"text\": \"abc\"}\n";
    for (const auto& [line, why] :
         {std::pair{"[1]", "no JSON object"},
          {"{\"text\": ", "rows.jsonl:2:10: not valid JSON: "},
          {"{\"text\": \"abc\", \"text\": \"d\"}", "the key \"text\" is given twice"},
          {"{\"text\": 1}", "\"text\" is missing or no string"},
          {"{\"prompt\": \"a\"}", "\"completion\" is missing"},
          {"{\"other\": 1}", "has none of them"},
          {"{\"text\": \"\"}", "0 scored tokens"},
          {"{\"text\": \"a\"}", "0 scored tokens"},
          {"{\"messages\": []}", "no list of messages"},
          {"{\"messages\": 1}", "no list of messages"},
          {"{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}", "ChatML"}}) {
        const auto said = refusal(good + line + "\n");
        EXPECT_THAT(said, HasSubstr("rows.jsonl:2:")) << line;
        EXPECT_THAT(said, HasSubstr(why)) << line;
    }
    EXPECT_THAT(refusal("\n  \n"), HasSubstr("no rows"));
    EXPECT_THAT(refusal("{\"prompt\": \"123456\", \"completion\": \"7\"}", 5),
                HasSubstr("among its first 6"));
}

}  // namespace
}  // namespace assay::nn
