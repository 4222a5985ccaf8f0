#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <utility>

#include "impls/nn/text/tokenizer_table.hpp"

namespace assay::nn {
namespace {

using Word = std::vector<int>;

/// The same merges, applied by looking at every pair before every merge.
struct SlowMerges {
    std::map<std::pair<int, int>, std::pair<int, int>> merged_by_pair;  // rank, token

    Word apply(Word word) const {
        for (;;) {
            auto best = merged_by_pair.end();
            std::size_t at = 0;
            for (std::size_t i = 0; i + 1 < word.size(); ++i) {
                const auto found = merged_by_pair.find({word[i], word[i + 1]});
                if (found == merged_by_pair.end()) continue;
                if (best == merged_by_pair.end() || found->second.first < best->second.first) {
                    best = found;
                    at = i;
                }
            }
            if (best == merged_by_pair.end()) return word;
            word[at] = best->second.second;
            word.erase(word.begin() + static_cast<long>(at) + 1);
        }
    }
};

Word applied(const Merges& merges, Word word) {
    merges.apply(word);
    return word;
}

TEST(Merges, LowestRankThenLeftmost) {
    Merges merges;
    ASSERT_TRUE(merges.add(1, 1, 5, 2));
    ASSERT_TRUE(merges.add(1, 3, 0, 4));
    ASSERT_TRUE(merges.add(2, 4, 9, 6));
    EXPECT_EQ(applied(merges, {1, 1, 1}), (Word{2, 1}));
    EXPECT_EQ(applied(merges, {1, 1, 3}), (Word{1, 4}));
    EXPECT_EQ(applied(merges, {1, 1, 1, 3}), (Word{6}));
    EXPECT_EQ(applied(merges, {7, 8}), (Word{7, 8}));
    EXPECT_EQ(applied(merges, {1}), (Word{1}));
    EXPECT_EQ(applied(merges, {}), (Word{}));
}

TEST(Merges, APairIsAddedOnce) {
    Merges merges;
    EXPECT_TRUE(merges.add(1, 2, 0, 3));
    EXPECT_FALSE(merges.add(1, 2, 1, 4));
    EXPECT_TRUE(merges.add(2, 1, 2, 4));
}

TEST(Merges, AsOneByOne) {
    std::mt19937 engine(11);
    for (int round = 0; round < 300; ++round) {
        Merges merges;
        SlowMerges slow;
        const int letters = 2 + static_cast<int>(engine() % 3);
        int tokens = letters;
        for (int rank = 0; rank < 25; ++rank) {
            const int left = static_cast<int>(engine()) & 0xff,
                      right = static_cast<int>(engine()) & 0xff;
            const std::pair pair{left % tokens, right % tokens};
            if (!slow.merged_by_pair.try_emplace(pair, rank, tokens).second) continue;
            ASSERT_TRUE(merges.add(pair.first, pair.second, rank, tokens));
            ++tokens;
        }
        for (int i = 0; i < 20; ++i) {
            Word word(engine() % 40);
            for (int& token : word)
                token = static_cast<int>(engine() % static_cast<unsigned>(letters));
            ASSERT_EQ(applied(merges, word), slow.apply(word));
        }
    }
}

// n log n: a word ten times as long may take about ten times as long, not a hundred times.
TEST(Merges, LongWordsTakeAboutProportionalTime) {
    Merges merges;
    for (int i = 0; i < 15; ++i) merges.add(i, i, i, i + 1);
    const auto seconds = [&](std::size_t size) {
        double best = 1e9;
        for (int i = 0; i < 5; ++i) {
            Word word(size, 0);
            const auto start = std::chrono::steady_clock::now();
            merges.apply(word);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            best = std::min(best, taken.count());
        }
        return best;
    };
    EXPECT_LT(seconds(200'000) / seconds(10'000), 100) << "20 expected, 400 if quadratic";
}

TEST(WrittenTokens, TheFirstAndThereTheLongest) {
    WrittenTokens tokens;
    tokens.add("<a>", 1);
    tokens.add("<a>>", 2);
    tokens.add("<", 3);
    tokens.add("\xff", 4);
    const auto expect = [&](std::string_view text, std::size_t at, std::size_t bytes, int id) {
        const auto found = tokens.first(text);
        EXPECT_EQ(found.at, at) << text;
        EXPECT_EQ(found.bytes, bytes) << text;
        if (bytes) {
            EXPECT_EQ(found.id, id) << text;
        }
    };
    expect("x<a>>y", 1, 4, 2);
    expect("x<a>y", 1, 3, 1);
    expect("x<<a>", 1, 1, 3);
    expect("x\xff<a>", 1, 1, 4);
    expect("<a", 0, 1, 3);
    expect("nothing", 7, 0, 0);
    expect("", 0, 0, 0);
}

}  // namespace
}  // namespace assay::nn
