#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "impls/nn/training/corpus.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/training/toy_text.hpp"

namespace assay::nn {
namespace {

std::string text_of(const at::Tensor& tokens) {
    std::string text;
    for (std::int64_t i = 0; i < tokens.numel(); ++i)
        text += static_cast<char>(tokens.view(-1)[i].item<std::int64_t>());
    return text;
}

TEST(TokenData, SplitsAtALinesEnd) {
    const auto text = sums(200);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0.25, 16);
    const auto trained = static_cast<std::size_t>(data.training_tokens());
    EXPECT_EQ(trained + static_cast<std::size_t>(data.held_out_tokens()), text.size());
    EXPECT_EQ(text[trained - 1], '\n');
    EXPECT_GE(data.held_out_tokens(), static_cast<std::int64_t>(text.size() / 4));
    EXPECT_LT(data.held_out_tokens(), static_cast<std::int64_t>(text.size() / 4 + 20));
}

TEST(TokenData, BatchesAreWindowsOfTheTrainingPartAndAFunctionOfSeedAndStep) {
    const auto text = sums(200);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0.25, 16);
    const auto training = text.substr(0, static_cast<std::size_t>(data.training_tokens()));
    std::set<std::string> seen;
    for (std::int64_t step = 0; step < 20; ++step) {
        const auto batch = data.batch(1, step, 4);
        ASSERT_EQ(batch.sizes(), (std::vector<std::int64_t>{4, 17}));
        EXPECT_TRUE(batch.equal(data.batch(1, step, 4)));
        EXPECT_FALSE(batch.equal(data.batch(2, step, 4)));
        for (std::int64_t s = 0; s < 4; ++s) {
            const auto window = text_of(batch[s]);
            EXPECT_NE(training.find(window), std::string::npos);
            seen.insert(window);
        }
    }
    EXPECT_GT(seen.size(), 60u);
}

TEST(TokenData, ReachesBothEndsOfTheTrainingPart) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += static_cast<char>('a' + i);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0, 9);
    std::set<std::int64_t> first;
    for (std::int64_t step = 0; step < 50; ++step)
        first.insert(data.batch(1, step, 1)[0][0].item<std::int64_t>());
    EXPECT_EQ(first, (std::set<std::int64_t>{'a', 'b', 'c'}));
}

TEST(TokenData, HeldOutWindowsScoreEveryTokenOnce) {
    const auto text = sums(200);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0.25, 16);
    const auto held_out = text.substr(static_cast<std::size_t>(data.training_tokens()));
    std::string scored = held_out.substr(0, 1);
    std::size_t windows = 0;
    for (const auto& batch : data.held_out_batches(5, 0)) {
        EXPECT_LE(batch.size(0), 5);
        for (std::int64_t s = 0; s < batch.size(0); ++s, ++windows)
            scored += text_of(batch[s].narrow(0, 1, 16));
    }
    EXPECT_EQ(windows, (held_out.size() - 1) / 16);
    EXPECT_EQ(scored, held_out.substr(0, scored.size()));
    EXPECT_GT(scored.size() + 16, held_out.size());
}

TEST(TokenData, AFewWindowsAreSpreadEvenly) {
    const auto text = sums(400);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0.5, 16);
    const auto held_out = text.substr(static_cast<std::size_t>(data.training_tokens()));
    const auto batches = data.held_out_batches(8, 4);
    ASSERT_EQ(batches.size(), 1u);
    ASSERT_EQ(batches[0].size(0), 4);
    const auto all = (held_out.size() - 1) / 16;
    for (std::size_t w = 0; w < 4; ++w)
        EXPECT_EQ(text_of(batches[0][static_cast<std::int64_t>(w)]),
                  held_out.substr(w * all / 4 * 16, 17));
    EXPECT_EQ(data.held_out_batches(8, 1000000).size(), data.held_out_batches(8, 0).size());
}

TEST(TokenData, CountsTheBytesOfScoredTokens) {
    const auto text = sums(200);
    const auto data = TokenData::from_text(text, Tokenizer::bytes(), 0.25, 16);
    const auto all = (data.held_out_tokens() - 1) / 16;
    EXPECT_EQ(data.held_out_bytes(0), all * 16);  // a byte per token
    EXPECT_EQ(data.held_out_bytes(3), 3 * 16);
    EXPECT_EQ(TokenData::from_text(text, Tokenizer::bytes(), 0, 16).held_out_bytes(0), 0);
}

TEST(TokenData, TheDigestIsOfBothPartsAndTheContext) {
    const auto digest = [](const std::string& text, double held_out, int context) {
        return TokenData::from_text(text, Tokenizer::bytes(), held_out, context).digest();
    };
    const auto text = sums(200);
    auto trained = text, held_out = text;
    trained.front() = 'x';
    held_out.back() = 'x';
    const std::set<std::uint64_t> different{digest(text, 0.25, 16),     digest(trained, 0.25, 16),
                                            digest(held_out, 0.25, 16), digest(text, 0.25, 17),
                                            digest(text, 0.4, 16),      digest(text, 0, 16)};
    EXPECT_EQ(different.size(), 6u);
    EXPECT_EQ(digest(text, 0.25, 16), digest(sums(200), 0.25, 16));
}

TEST(TokenData, AFolderIsNoText) {
    try {
        TokenData(std::filesystem::path(testing::TempDir()), Tokenizer::bytes(), 0.1, 16);
        FAIL() << "read a folder";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("is a folder"), std::string::npos) << error.what();
    }
}

TEST(TokenData, SaysWhatIsWrong) {
    const auto bytes = Tokenizer::bytes();
    EXPECT_THROW(TokenData::from_text("short", bytes, 0, 16), UserError);
    EXPECT_THROW(TokenData::from_text(sums(20), bytes, 0.01, 16), UserError);
    EXPECT_THROW(TokenData::from_text(sums(20), bytes, 0.6, 16), UserError);
    EXPECT_THROW(TokenData::from_text(sums(20), bytes, -0.1, 16), UserError);
    EXPECT_THROW(TokenData("/nonexistent/text", bytes, 0.1, 16), UserError);
    EXPECT_THROW(TokenData("/proc/self/mem", bytes, 0.1, 16), UserError);  // opens, is not read
    EXPECT_NO_THROW(TokenData::from_text(sums(20), bytes, 0.5, 16));
}

}  // namespace
}  // namespace assay::nn
