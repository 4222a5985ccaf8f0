// Keys and values of a kept sequence at other positions of another one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/cpu/back_end.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"
#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

nn::DecoderConfig config() {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.context = 200;
    return config;
}

BatchEngine engine(const nn::TensorFile& file, int blocks = 60, int chunk = 64,
                   KvType kv = KvType::f32) {
    return {std::make_unique<CpuBackEnd>(load_model(file, {}),
                                         PassOptions{.blocks = blocks, .threads = 1, .kv = kv}),
            {.max_batch = 4, .chunk = chunk}};
}

BatchRequest forced(std::vector<int> prompt, std::vector<int> ids) {
    BatchRequest request;
    request.prompt = std::move(prompt);
    request.forced_ids = std::move(ids);
    return request;
}

struct Ran {
    RequestId id = -1;
    std::vector<int> ids;
    std::vector<double> log_probabilities;
    EndedRequest ended;
};

BatchRequest with_links(BatchRequest request, const Links& links) {
    request.links = links;
    return request;
}

Ran run(BatchEngine& engine, const BatchRequest& request, const Links& links = {}) {
    Ran ran{.id = engine.submit(with_links(request, links))};
    StepReport report;
    while (!engine.idle()) engine.step(report);
    for (const MadeToken& token : report.tokens) {
        ran.ids.push_back(token.id);
        ran.log_probabilities.push_back(token.log_probability);
    }
    ran.ended = report.ended.at(0);
    return ran;
}

std::vector<int> counted(int first, int count) {
    std::vector<int> rotations(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) rotations[static_cast<std::size_t>(i)] = first + i;
    return rotations;
}

// The rotation of the cache's keys, against one in double from the keys as they were before any.
TEST(Links, RotatedKeysAreThoseOfTheirNewPosition) {
    const nn::DecoderConfig shape = config();
    const int width = shape.head_width, heads = shape.kv_heads;
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (const KvType type : {KvType::f32, KvType::bf16}) {
        const double tolerance = type == KvType::f32 ? 2e-6 : 2e-2;
        PagedCache cache(shape, 3, type);
        std::vector<std::vector<double>> bare;  // [position]: keys of all heads, not rotated
        const auto rotated = [&](const std::vector<double>& keys, int position) {
            std::vector<double> out(keys.size());
            for (int head = 0; head < heads; ++head)
                for (int i = 0; i < width / 2; ++i) {
                    const double angle = position * std::pow(shape.rope_base, -2.0 * i / width);
                    const auto low = static_cast<std::size_t>(head * width + i);
                    const auto high = low + static_cast<std::size_t>(width / 2);
                    out[low] = keys[low] * std::cos(angle) - keys[high] * std::sin(angle);
                    out[high] = keys[high] * std::cos(angle) + keys[low] * std::sin(angle);
                }
            return out;
        };
        for (int position = 0; position < block_positions; ++position) {
            auto& keys = bare.emplace_back(static_cast<std::size_t>(heads * width));
            for (double& key : keys) key = normal(random);
            const auto at = rotated(keys, 100 + position);
            std::vector<float> key(at.begin(), at.end()), value(key.size());
            for (std::size_t i = 0; i < value.size(); ++i)
                value[i] = static_cast<float>(position) + static_cast<float>(i) / 64;
            for (int layer = 0; layer < shape.layers; ++layer)
                cache.put(loops(), layer, 0, position, key.data(), value.data());
        }
        for (const int shift : {-77, 0, 1, 5000}) {
            std::vector<float> cosine, sine;
            for (int i = 0; i < width / 2; ++i) {
                const double angle = shift * std::pow(shape.rope_base, -2.0 * i / width);
                cosine.push_back(static_cast<float>(std::cos(angle)));
                sine.push_back(static_cast<float>(std::sin(angle)));
            }
            // Three to eleven of them, to seven and after.
            cache.link({.from = 0,
                        .from_position = 3,
                        .to = 1,
                        .to_position = 7,
                        .positions = 9,
                        .shift = shift},
                       cosine, sine);
            for (int head = 0; head < heads; ++head) {
                const std::byte* const bytes = cache.of_head(1, head, 1);
                const auto stored = [&](int index) {
                    if (type == KvType::f32)
                        return static_cast<double>(reinterpret_cast<const float*>(bytes)[index]);
                    return static_cast<double>(
                        nn::from_bfloat16(reinterpret_cast<const std::uint16_t*>(bytes)[index]));
                };
                for (int p = 0; p < 9; ++p) {
                    const auto expected =
                        rotated(bare[static_cast<std::size_t>(3 + p)], 103 + p + shift);
                    for (int i = 0; i < width; ++i)
                        EXPECT_NEAR(
                            stored(cache.layout().key(i, 7 + p)),
                            expected[static_cast<std::size_t>(head * width + i)],
                            tolerance *
                                (1 +
                                 std::abs(expected[static_cast<std::size_t>(head * width + i)])))
                            << "shift " << shift;
                    for (int i = 0; i < width; ++i)
                        EXPECT_NEAR(stored(cache.layout().value(7 + p, i)),
                                    3 + p + (head * width + i) / 64.0,
                                    type == KvType::f32 ? 0 : 0.07);
                }
            }
        }
    }
}

TEST(Links, TheSameTokensAtTheSamePlaceAreTheSameBits) {
    const nn::TensorFile file = toy_file(nn::toy_model(config()));
    for (const int chunk : {5, 200}) {
        const std::vector<int> text = random_ids(70, 40, 1), after = random_ids(8, 40, 2);
        const std::vector<int> beginning(text.begin(), text.begin() + 40);
        BatchEngine with = engine(file, 60, chunk), without = engine(file, 60, chunk);
        const Ran kept = run(with, forced(beginning, random_ids(6, 40, 3)), {.keep = true});
        Links links;
        links.most_reused = 0;
        links.linked = {{.kept = kept.id, .first = 0, .count = 40, .at = 0}};
        const Ran linked = run(with, forced(text, after), links);
        const Ran alone = run(without, forced(text, after));
        EXPECT_EQ(linked.log_probabilities, alone.log_probabilities);
        EXPECT_EQ(linked.ended.reused, 0);
        with.release(kept.id);
        with.empty_cache();
        EXPECT_EQ(with.stats().held_blocks, 0);
    }
}

// RoPE knows distances only: where everything stands further on by the same, nothing changes but
// the last bits. Linked keys are rotated from one place to the other.
TEST(Links, WhereAllIsShiftedAlikeNothingChanges) {
    const nn::TensorFile file = toy_file(nn::toy_model(config()));
    const std::vector<int> text = random_ids(50, 40, 5), after = random_ids(12, 40, 6);
    BatchEngine plain = engine(file);
    const Ran expected = run(plain, forced(text, after));
    const std::vector<int> beginning(text.begin(), text.begin() + 33);
    BatchEngine shifted = engine(file);
    const Ran kept = run(shifted, forced(beginning, {7, 8}), {.keep = true});
    for (const int by : {1, 37, 90}) {
        Links links;
        links.most_reused = 0;
        links.linked = {{.kept = kept.id, .first = 0, .count = 33, .at = 0}};
        links.rotations = counted(by, 50);
        const Ran ran = run(shifted, forced(text, after), links);
        for (std::size_t i = 0; i < after.size(); ++i)
            EXPECT_NEAR(ran.log_probabilities[i], expected.log_probabilities[i], 2e-5) << by;
    }
    shifted.release(kept.id);
}

// Two pieces in the middle, between tokens that are computed: only what is not linked is.
TEST(Links, WhatIsNotLinkedIsComputedAndNothingElse) {
    const nn::TensorFile file = toy_file(nn::toy_model(config()));
    const std::vector<int> first = random_ids(30, 40, 7), second = random_ids(25, 40, 8);
    std::vector<std::vector<double>> all;
    for (const int chunk : {1, 3, 200}) {
        BatchEngine batch = engine(file, 60, chunk);
        const Ran a = run(batch, forced(first, random_ids(20, 40, 9)), {.keep = true});
        const Ran b = run(batch, forced(second, random_ids(9, 40, 10)), {.keep = true});
        std::vector<int> prompt = random_ids(11, 40, 11);
        const auto piece = [&](const std::vector<int>& from, int begin, int count) {
            const int at = static_cast<int>(prompt.size());
            prompt.insert(prompt.end(), from.begin() + begin, from.begin() + begin + count);
            return at;
        };
        Links links;
        links.linked = {{.kept = a.id, .first = 4, .count = 20, .at = piece(first, 4, 20)}};
        prompt.push_back(3);
        links.linked.push_back({.kept = b.id, .first = 1, .count = 22, .at = piece(second, 1, 22)});
        prompt.push_back(5);
        const std::int64_t before = batch.stats().computed_tokens;
        const Ran ran = run(batch, forced(prompt, {1, 2, 3}), links);
        EXPECT_EQ(batch.stats().computed_tokens - before, 11 + 1 + 1 + 2);
        all.push_back(ran.log_probabilities);
        // Nobody finds it in the tree: its keys and values are not those of its tokens.
        EXPECT_LE(batch.cached_tokens(prompt), 11);
        // What is released while a request is linked to it is there until that ends.
        batch.submit(with_links(forced(prompt, {1}), links));
        batch.release(a.id);
        batch.release(b.id);
        StepReport report;
        while (!batch.idle()) batch.step(report);
        EXPECT_EQ(report.ended.at(0).why, Finish::length);
        EXPECT_FALSE(batch.has_links());
        batch.empty_cache();
        EXPECT_EQ(batch.stats().held_blocks, 0);
    }
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[0], all[2]);
}

TEST(Links, APreemptedRequestIsLinkedAgain) {
    const nn::TensorFile file = toy_file(nn::toy_model(config()));
    const std::vector<int> text = random_ids(40, 40, 12);
    const auto log_probabilities = [&](int blocks, bool swap) {
        BatchEngine batch(std::make_unique<CpuBackEnd>(load_model(file, {}),
                                                       PassOptions{.blocks = blocks, .threads = 1}),
                          {.max_batch = 4, .chunk = 64, .swap = swap});
        const Ran kept = run(batch, forced(text, {1, 2}), {.keep = true});
        batch.submit(forced(random_ids(16, 40, 13), random_ids(60, 40, 14)));
        Links links;
        links.linked = {{.kept = kept.id, .first = 2, .count = 30, .at = 5}};
        std::vector<int> prompt = random_ids(5, 40, 15);
        prompt.insert(prompt.end(), text.begin() + 2, text.begin() + 32);
        prompt.push_back(1);
        const RequestId id =
            batch.submit(with_links(forced(prompt, random_ids(30, 40, 16)), links));
        StepReport report;
        while (!batch.idle()) batch.step(report);
        std::vector<double> found;
        for (const MadeToken& token : report.tokens)
            if (token.request == id) found.push_back(token.log_probability);
        EXPECT_EQ(batch.stats().preemptions > 0, blocks < 60);
        batch.release(kept.id);
        return found;
    };
    const auto expected = log_probabilities(60, false);
    EXPECT_EQ(log_probabilities(9, false), expected);
    EXPECT_EQ(log_probabilities(9, true), expected);
}

TEST(Links, RefusesWhatCannotBe) {
    const nn::TensorFile file = toy_file(nn::toy_model(config()));
    BatchEngine batch = engine(file);
    const std::vector<int> text = random_ids(20, 40, 17);
    const Ran kept = run(batch, forced(text, {1, 2, 3}), {.keep = true});
    const auto refused = [&](LinkedTokens linked, std::vector<int> rotations = {}) {
        Links links;
        links.linked = {linked};
        links.rotations = std::move(rotations);
        EXPECT_THROW(batch.submit(with_links(forced(text, {1}), links)), UserError);
    };
    refused({.kept = 99, .first = 0, .count = 1, .at = 0});
    refused({.kept = kept.id, .first = 0, .count = 23, .at = 0});  // the last was never fed
    refused({.kept = kept.id, .first = 0, .count = 20, .at = 0});  // the prompt's last token
    refused({.kept = kept.id, .first = 1, .count = 5, .at = 0});   // other tokens
    refused({.kept = kept.id, .first = -1, .count = 5, .at = 0});
    refused({.kept = kept.id, .first = 0, .count = 0, .at = 0});
    refused({.kept = kept.id, .first = 0, .count = 5, .at = 0}, {1, 2});
    refused({.kept = kept.id, .first = 0, .count = 5, .at = 0}, counted(190, 20));
    BatchRequest endless;
    endless.prompt = text;
    endless.max_tokens = std::numeric_limits<int>::max();
    EXPECT_THROW(batch.submit(with_links(endless, {.rotations = counted(0, 20)})), UserError);
    auto torn = counted(0, 20);
    torn[3] = 60;
    refused({.kept = kept.id, .first = 0, .count = 5, .at = 0}, torn);
    const RequestId open = batch.submit(with_links(forced(text, {1}), {.keep = true}));
    EXPECT_THROW(static_cast<void>(batch.state_of(open)), UserError);
    EXPECT_EQ(batch.unfinished(), std::vector{open});

    const nn::TensorFile learned = toy_file(nn::toy_model([] {
        nn::DecoderConfig gpt2 = nn::toy_gpt2_config();
        gpt2.context = 200;
        return gpt2;
    }()));
    BatchEngine other = engine(learned);
    const Ran there = run(other, forced(text, {1, 2, 3}), {.keep = true});
    Links links;
    links.linked = {{.kept = there.id, .first = 0, .count = 5, .at = 0}};
    EXPECT_THROW(other.submit(with_links(forced(text, {1}), links)), UserError);
}

// The model of time, too, has other tokens behind what was computed among others.
TEST(Links, AModelledSequenceHangsOnWhatItIsLinkedTo) {
    const auto ids = [](int first, int chunk) {
        BatchEngine batch(std::make_unique<ModelledBackEnd>(ModelledSettings{
                              .vocabulary = 500, .context = 300, .blocks = 60, .checks = true}),
                          {.chunk = chunk});
        BatchRequest before;
        before.prompt = {first};
        for (int i = 1; i < 40; ++i) before.prompt.push_back(i);
        const Ran kept = run(batch, before, {.keep = true});
        BatchRequest after;
        for (int i = 0; i < 10; ++i) after.prompt.push_back(100 + i);
        after.prompt.insert(after.prompt.end(), before.prompt.begin() + 5,
                            before.prompt.begin() + 35);
        after.prompt.push_back(200);
        Links links;
        links.linked = {{.kept = kept.id, .first = 5, .count = 30, .at = 10}};
        const Ran linked = run(batch, after, links);
        batch.release(kept.id);
        batch.empty_cache();
        EXPECT_EQ(batch.stats().held_blocks, 0);
        return linked.ids;
    };
    EXPECT_EQ(ids(0, 512), ids(0, 7));
    EXPECT_NE(ids(0, 512), ids(1, 512));
}

TEST(Links, NoMoreIsTakenFromTheCacheThanAllowed) {
    for (const int most : {0, 7, 16, 20, 31, 1000}) {
        BatchEngine batch(std::make_unique<ModelledBackEnd>(ModelledSettings{
                              .vocabulary = 500, .context = 300, .blocks = 40, .checks = true}),
                          {});
        BatchRequest request;
        for (int i = 0; i < 32; ++i) request.prompt.push_back(i);
        const Ran first = run(batch, request);
        const Ran second = run(batch, request, {.most_reused = most});
        EXPECT_EQ(second.ended.reused, std::min(most, 31));
        EXPECT_EQ(second.ids, first.ids);
    }
}

}  // namespace
}  // namespace assay::decode
