#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "impls/nn/text/vocabulary.hpp"
#include "tests/nn/text/small_vocabulary.hpp"

namespace assay::nn {
namespace {

using testing::random_bytes;
using Words = std::vector<std::string>;

Words words(WordRule rule, std::string_view text) {
    Words all;
    while (!text.empty()) {
        const std::size_t bytes = first_word(rule, text);
        if (bytes == 0 || bytes > text.size()) {
            ADD_FAILURE() << "a word of " << bytes << " bytes in " << text.size();
            break;
        }
        all.emplace_back(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return all;
}

// Cuts found by hand with the pattern of GPT-2.
TEST(Words, Gpt2) {
    const auto gpt2 = [](std::string_view text) { return words(WordRule::gpt2, text); };
    EXPECT_EQ(gpt2("Hello world"), (Words{"Hello", " world"}));
    EXPECT_EQ(gpt2("they'll I'm 'tis"), (Words{"they", "'ll", " I", "'m", " '", "tis"}));
    EXPECT_EQ(gpt2("'s'S'd"), (Words{"'s", "'", "S", "'d"}));
    EXPECT_EQ(gpt2("!'s"), (Words{"!'", "s"}));
    EXPECT_EQ(gpt2("a  b"), (Words{"a", " ", " b"}));
    EXPECT_EQ(gpt2("a   b  "), (Words{"a", "  ", " b", "  "}));
    EXPECT_EQ(gpt2("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
    EXPECT_EQ(gpt2("a \n"), (Words{"a", " \n"}));
    EXPECT_EQ(gpt2("a\n b"), (Words{"a", "\n", " b"}));
    EXPECT_EQ(gpt2(" 12.5kg"), (Words{" 12", ".", "5", "kg"}));
    EXPECT_EQ(gpt2("x\u00a0\u00a0y"), (Words{"x", "\u00a0", "\u00a0", "y"}));
    EXPECT_EQ(gpt2(" e\u0301"), (Words{" e", "\u0301"}));
    EXPECT_EQ(gpt2("a\xff\xfe\x80!"), (Words{"a", "\xff\xfe\x80!"}));
}

TEST(Words, SmollmCutsEveryNumberOff) {
    const auto smollm = [](std::string_view text) { return words(WordRule::smollm, text); };
    EXPECT_EQ(smollm(" 12.5kg"), (Words{" ", "1", "2", ".", "5", "kg"}));
    EXPECT_EQ(smollm("a  1  b"), (Words{"a", "  ", "1", " ", " b"}));
    EXPECT_EQ(smollm("I'll 9've"), (Words{"I", "'ll", " ", "9", "'ve"}));
    EXPECT_EQ(smollm("\u00bd\u0663x"), (Words{"\u00bd", "\u0663", "x"}));
}

// Cuts found by hand with the pattern of LLaMA 3.
TEST(Words, Llama3) {
    const auto llama3 = [](std::string_view text) { return words(WordRule::llama3, text); };
    EXPECT_EQ(llama3("they'LL (a\tb"), (Words{"they", "'LL", " (", "a", "\tb"}));
    EXPECT_EQ(llama3("'\u017fx '\u017e"), (Words{"'\u017f", "x", " '", "\u017e"}));
    EXPECT_EQ(llama3("x 12345"), (Words{"x", " ", "123", "45"}));
    EXPECT_EQ(llama3("a .\r\n\nb"), (Words{"a", " .\r\n\n", "b"}));
    EXPECT_EQ(llama3("a \n \n  b"), (Words{"a", " \n \n", " ", " b"}));
    EXPECT_EQ(llama3("a  \t"), (Words{"a", "  \t"}));
    EXPECT_EQ(llama3("\nb\xff"
                     "c"),
              (Words{"\n", "b",
                     "\xff"
                     "c"}));
}

TEST(Words, Qwen2IsLlama3WithNumbersAlone) {
    const auto qwen2 = [](std::string_view text) { return words(WordRule::qwen2, text); };
    EXPECT_EQ(qwen2("x 123\u00bd4a"), (Words{"x", " ", "1", "2", "3", "\u00bd", "4", "a"}));
    EXPECT_EQ(qwen2("they'LL\n\n 5  "), (Words{"they", "'LL", "\n\n", " ", "5", "  "}));
    EXPECT_EQ(qwen2("\u4f60\u597d\uff11\u4e16"), (Words{"\u4f60\u597d", "\uff11", "\u4e16"}));
}

TEST(Words, WholeDoesNotCut) { EXPECT_EQ(words(WordRule::whole, "a b 1\n"), (Words{"a b 1\n"})); }

TEST(Words, AreTheTextWhateverItIs) {
    std::mt19937 engine(7);
    for (const WordRule rule :
         {WordRule::whole, WordRule::gpt2, WordRule::smollm, WordRule::llama3, WordRule::qwen2})
        for (int i = 0; i < 500; ++i) {
            const std::string text = random_bytes(engine, engine() % 60, " '\t\nslt1a\xc2\xa0");
            std::string again;
            for (const std::string& word : words(rule, text)) again += word;
            ASSERT_EQ(again, text);
        }
}

}  // namespace
}  // namespace assay::nn
