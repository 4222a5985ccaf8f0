#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "impls/nn/text/tokenizer.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/text/small_vocabulary.hpp"

namespace assay::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::random_bytes;
using testing::small_vocabulary;
using ::testing::StartsWith;
using Ids = std::vector<int>;

TEST(Tokenizer, MergesInsideWords) {
    const Tokenizer tokenizer(small_vocabulary());
    EXPECT_EQ(tokenizer.encode(""), (Ids{}));
    EXPECT_EQ(tokenizer.encode("ab"), (Ids{256}));
    EXPECT_EQ(tokenizer.encode("abc"), (Ids{'a', 258})) << "\"bc\" has the lower rank";
    EXPECT_EQ(tokenizer.encode("ab c"), (Ids{256, ' ', 'c'})) << "no merge across words";
    EXPECT_EQ(tokenizer.encode("x ab"), (Ids{'x', ' ', 256})) << "\"ab\" before \" a\"";
    EXPECT_EQ(tokenizer.encode("x ac"), (Ids{'x', 259, 'c'}));
}

TEST(Tokenizer, AWordThatIsATokenFirst) {
    Vocabulary vocabulary = small_vocabulary();
    vocabulary.words_before_merges = true;
    const Tokenizer tokenizer(vocabulary);
    EXPECT_EQ(tokenizer.encode("abc"), (Ids{257}));
    EXPECT_EQ(tokenizer.encode("x ab"), (Ids{'x', 260}));
    EXPECT_EQ(tokenizer.encode("abcb"), (Ids{'a', 258, 'b'}));
}

TEST(Tokenizer, SpecialTokensOnDemandAndLiteralsAlways) {
    const Tokenizer tokenizer(small_vocabulary());
    EXPECT_EQ(tokenizer.encode("ab<end>ab", true), (Ids{256, 261, 256}));
    EXPECT_EQ(tokenizer.encode("<end>>", true), (Ids{262}));
    EXPECT_EQ(tokenizer.encode("<end>"), (Ids{'<', 'e', 'n', 'd', '>'}));
    EXPECT_EQ(tokenizer.encode("a::tabb"), (Ids{'a', 263, 'b'}));
    EXPECT_EQ(tokenizer.encode("[PAD]", true), (Ids{'[', 'P', 'A', 'D', ']'}));
    EXPECT_EQ(tokenizer.decode(Ids{256, 261, 263, 264}), "ab<end>::tab[PAD]");
}

TEST(Tokenizer, WhatItKnowsOfTokens) {
    const Tokenizer tokenizer(small_vocabulary());
    EXPECT_EQ(tokenizer.size(), 265);
    EXPECT_EQ(tokenizer.end_of_text(), 261);
    EXPECT_EQ(tokenizer.start_of_text(), std::nullopt);
    EXPECT_EQ(tokenizer.id_of(" ab"), 260);
    EXPECT_EQ(tokenizer.id_of("<end>>"), 262);
    EXPECT_EQ(tokenizer.id_of("absent"), std::nullopt);
    EXPECT_EQ(tokenizer.bytes_of(260), 3u);
    EXPECT_EQ(tokenizer.bytes_of(261), 0u);
    EXPECT_EQ(tokenizer.bytes_of(263), 5u);
    EXPECT_EQ(tokenizer.text_ends(), (Ids{261}));
    for (const int id : {-1, 265}) {
        EXPECT_THROW(tokenizer.decode(Ids{'a', id}), UserError);
        EXPECT_THROW(tokenizer.bytes_of(id), UserError);
    }
}

TEST(Tokenizer, ATurnEndsTheTextToo) {
    Vocabulary vocabulary = small_vocabulary();
    vocabulary.tokens.push_back({"<|im_end|>", TokenKind::control});
    vocabulary.tokens.push_back({"</s>"});  // no special token, in spite of its name
    const Tokenizer tokenizer(vocabulary);
    EXPECT_EQ(tokenizer.text_ends(), (Ids{261, 265}));
    vocabulary.text_ends = {262, 261, 5};
    EXPECT_EQ(Tokenizer(vocabulary).text_ends(), (Ids{5, 261, 262, 265}));
}

TEST(Tokenizer, WhatOpensOrEndsATurnIsTakenOnDemandOnly) {
    Vocabulary vocabulary = small_vocabulary();  // files that call these ordinary words
    vocabulary.tokens.push_back({"<|im_start|>", TokenKind::literal});
    vocabulary.tokens.push_back({"<|im_end|>", TokenKind::literal});
    vocabulary.tokens.push_back({"<turn over>", TokenKind::literal});
    vocabulary.text_ends = {267};
    const Tokenizer tokenizer(vocabulary);
    for (int id = 265; id <= 267; ++id) {
        const std::string written = tokenizer.decode(Ids{id});
        EXPECT_EQ(tokenizer.encode(written, true), Ids{id});
        const Ids ids = tokenizer.encode(written);
        EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0) << written;
        EXPECT_EQ(tokenizer.decode(ids), written);
    }
}

TEST(Tokenizer, BytesAreTheirIds) {
    const Tokenizer tokenizer = Tokenizer::bytes();
    EXPECT_EQ(tokenizer.size(), 256);
    EXPECT_EQ(tokenizer.encode("ab \xff"), (Ids{'a', 'b', ' ', 255}));
    EXPECT_EQ(tokenizer.decode(Ids{0, 200}), std::string("\0\xc8", 2));
    EXPECT_EQ(tokenizer.end_of_text(), std::nullopt);
    EXPECT_EQ(tokenizer.bytes_of(0), 1u);
}

std::string refusal_of(const Tokenizer& tokenizer, std::string_view text) {
    try {
        tokenizer.encode_named("t.txt", text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "encoded";
}

TEST(Tokenizer, BytesWithoutTokenAreRefusedWithTheirPlace) {
    Vocabulary vocabulary = small_vocabulary();
    vocabulary.tokens['b'] = {"<no b>", TokenKind::control};
    vocabulary.tokens['z'] = {"<no z>", TokenKind::control};
    vocabulary.merges.clear();
    const Tokenizer tokenizer(vocabulary);
    EXPECT_EQ(tokenizer.bytes_without_token(), "bz");
    EXPECT_EQ(refusal_of(tokenizer, "ac"), "encoded");
    EXPECT_THAT(refusal_of(tokenizer, "abzc"),
                AllOf(StartsWith("t.txt: "), HasSubstr("no token for 2 of the text's 4 bytes: the "
                                                       "first is 0x62 in line 1, byte 2")));
    EXPECT_THAT(refusal_of(tokenizer, "a::tab\na ::tab z"),
                HasSubstr("1 of the text's 16 bytes: the first is 0x7a in line 2, byte 9"))
        << "the letters of ::tab are not looked for";
    EXPECT_EQ(Tokenizer(small_vocabulary()).bytes_without_token(), "");
}

TEST(Tokenizer, DecodingIsTheInverseForAnyBytes) {
    std::mt19937 engine(3);
    for (const WordRule rule :
         {WordRule::whole, WordRule::gpt2, WordRule::smollm, WordRule::llama3}) {
        Vocabulary vocabulary = small_vocabulary();
        vocabulary.words = rule;
        const Tokenizer tokenizer(vocabulary);
        for (int i = 0; i < 300; ++i) {
            const std::string text = random_bytes(engine, engine() % 80, "abc <end>:t");
            const Ids ids = tokenizer.encode(text);
            ASSERT_EQ(tokenizer.decode(ids), text);
            std::size_t bytes = 0;
            for (const int id : ids) bytes += tokenizer.bytes_of(id);
            ASSERT_EQ(bytes, text.size());
            ASSERT_EQ(tokenizer.decode(tokenizer.encode(text, true)), text);
        }
    }
}

void expect_refused(const Vocabulary& vocabulary, const char* about) {
    try {
        Tokenizer{vocabulary};
        ADD_FAILURE() << "accepted: " << about;
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr(about));
    }
}

TEST(Tokenizer, TablesThatContradictThemselves) {
    const auto changed = [](auto change) {
        Vocabulary vocabulary = small_vocabulary();
        change(vocabulary);
        return vocabulary;
    };
    using V = Vocabulary&;
    expect_refused({}, "there are no tokens");
    expect_refused(changed([](V v) { v.tokens[258].written = "ab"; }),
                   "token 258 \"ab\" is also token 256");
    expect_refused(changed([](V v) { v.tokens[262].written = "<end>"; }), "is also token 261");
    expect_refused(changed([](V v) { v.tokens[256].written = "a b"; }),
                   "token 256 \"a b\" is not written");
    expect_refused(changed([](V v) { v.tokens[256].written = "\x1b[31m"; }),
                   "token 256 \"\\x1b[31m\" is not written");
    expect_refused(changed([](V v) { v.tokens[256].written = ""; }), "token 256 is empty");
    expect_refused(changed([](V v) { v.tokens[261].written = ""; }), "token 261 is empty");
    expect_refused(changed([](V v) { v.merges[1] = {"a", "q"}; }), "merge 1 is about \"aq\"");
    expect_refused(changed([](V v) { v.merges[0] = {"b", "zz"}; }), "merge 0 is about \"zz\"");
    expect_refused(changed([](V v) { v.merges[0] = {"", "a"}; }), "merge 0 is about \"\"");
    expect_refused(changed([](V v) {
                       v.merges.push_back({"a", "b"});
                   }),
                   "merge 5 (\"a\" and \"b\") is there twice");
    expect_refused(changed([](V v) { v.end_of_text = 265; }), "ends a text has id 265");
    expect_refused(changed([](V v) { v.start_of_text = -1; }), "starts a text has id -1");
}

}  // namespace
}  // namespace assay::nn
