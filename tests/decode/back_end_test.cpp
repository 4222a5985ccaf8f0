// Steps of many sequences give each the bits it would have alone, one token at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>

#include "impls/decode/cpu/back_end.hpp"
#include "impls/decode/networks/sparse_networks.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/stored_tensor.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

/// What is asked of a sequence, and what came of it.
struct Sequence {
    std::vector<int> prompt;
    int tokens = 8;  ///< to be generated
    Sampling sampling;
    std::vector<std::uint64_t> allowed;

    std::vector<int> ids;
    std::vector<double> log_probabilities, scores;  ///< scores: of the prompt but its first

    bool operator==(const Sequence& other) const {
        return ids == other.ids && log_probabilities == other.log_probabilities &&
               scores == other.scores;
    }
};

/// Runs sequences side by side, cut and ordered by chance.
class Steps {
  public:
    Steps(BackEnd& back_end, std::uint64_t seed) : back_end_(back_end), random_(seed) {
        free_.resize(static_cast<std::size_t>(back_end.blocks()));
        std::iota(free_.begin(), free_.end(), 0);
        std::shuffle(free_.begin(), free_.end(), random_);
    }

    /// most_tokens: of one slice. alone: one sequence in a step.
    void run(std::vector<Sequence>& sequences, int most_tokens, bool alone) {
        std::vector<State> states(sequences.size());
        while (true) {
            std::vector<std::size_t> order;
            for (std::size_t s = 0; s < sequences.size(); ++s)
                if (static_cast<int>(sequences[s].ids.size()) < sequences[s].tokens)
                    order.push_back(s);
            if (order.empty()) return;
            std::shuffle(order.begin(), order.end(), random_);
            order.resize(alone ? 1 : 1 + random_() % order.size());
            step(sequences, states, order, most_tokens);
        }
    }

    struct State {
        std::vector<int> fed, scored, blocks;
        int position = 0;
    };

    void step(std::vector<Sequence>& sequences, std::vector<State>& states,
              const std::vector<std::size_t>& order, int most_tokens) {
        std::vector<Slice> slices;
        for (const std::size_t s : order) {
            Sequence& sequence = sequences[s];
            State& state = states[s];
            std::vector<int> known = sequence.prompt;
            known.insert(known.end(), sequence.ids.begin(), sequence.ids.end());
            const auto left = static_cast<std::uint64_t>(known.size()) -
                              static_cast<std::uint64_t>(state.position);
            const auto most = std::min<std::uint64_t>(left, static_cast<unsigned>(most_tokens));
            const auto count = static_cast<int>(1 + random_() % most);
            state.fed.assign(known.begin() + state.position,
                             known.begin() + state.position + count);
            state.scored.assign(state.fed.size(), -1);
            for (int i = 0; i < count; ++i) {
                const auto next = static_cast<std::size_t>(state.position + i + 1);
                if (next < sequence.prompt.size())
                    state.scored[static_cast<std::size_t>(i)] = sequence.prompt[next];
            }
            while (static_cast<int>(state.blocks.size()) * block_positions <
                   state.position + count) {
                state.blocks.push_back(free_.back());
                free_.pop_back();
            }
            slices.push_back({.ids = state.fed,
                              .first_position = state.position,
                              .blocks = state.blocks,
                              .picks = state.position + count == static_cast<int>(known.size()),
                              .pick = {.sampling = sequence.sampling,
                                       .draw = sequence.ids.size(),
                                       .allowed = sequence.allowed},
                              .scored = state.scored});
        }
        std::vector<Outcome> outcomes(slices.size());
        back_end_.run(slices, outcomes);
        for (std::size_t i = 0; i < order.size(); ++i) {
            Sequence& sequence = sequences[order[i]];
            State& state = states[order[i]];
            for (std::size_t at = 0; at < state.scored.size(); ++at)
                if (state.scored[at] >= 0) sequence.scores.push_back(outcomes[i].scores[at]);
            state.position += static_cast<int>(state.fed.size());
            if (!slices[i].picks) continue;
            sequence.ids.push_back(outcomes[i].id);
            sequence.log_probabilities.push_back(outcomes[i].log_probability);
            ASSERT_TRUE(outcomes[i].finite);
        }
    }

  private:
    BackEnd& back_end_;
    std::mt19937_64 random_;
    std::vector<int> free_;
};

nn::ToyModel long_toy(nn::DecoderConfig config, std::uint64_t seed) {
    config.context = 400;
    config.hidden = 160;
    return nn::toy_model(config, seed);
}

std::vector<Sequence> toy_sequences(int vocabulary) {
    std::vector<Sequence> sequences;
    for (const int length : {1, 17, 5, 290, 64, 130}) {
        const auto seed = static_cast<std::uint64_t>(length);
        Sequence& sequence = sequences.emplace_back();
        sequence.prompt = random_ids(length, vocabulary, seed);
        sequence.sampling = {.seed = seed};
    }
    sequences[1].sampling = {.temperature = 1.0, .seed = 7};
    sequences[2].sampling = {.temperature = 0.7, .top_k = 9, .top_p = 0.9, .seed = 8};
    sequences[4].allowed = {0x5555555555555555u};
    sequences[5].sampling = {.temperature = 2.0, .top_p = 0.8, .seed = 9};
    return sequences;
}

struct Case {
    nn::TensorType weights;
    KvType kv;
    ActivationType activations;
};

class CpuBackEndBits : public testing::TestWithParam<Case> {
  protected:
    nn::ToyModel toy = long_toy(nn::toy_llama_config(), 31);
    nn::TensorFile file = toy_file(toy, GetParam().weights);

    std::unique_ptr<CpuBackEnd> back_end(int threads, const Loops* loops = nullptr) const {
        return std::make_unique<CpuBackEnd>(load_model(file, {}),
                                            PassOptions{.blocks = 60,
                                                        .threads = threads,
                                                        .kv = GetParam().kv,
                                                        .activations = GetParam().activations,
                                                        .loops = loops});
    }
};

TEST_P(CpuBackEndBits, DoNotDependOnBatchChunksOrderBlocksThreadsAndInstructions) {
    std::vector<Sequence> expected = toy_sequences(toy.config.vocabulary);
    Steps(*back_end(1), 1).run(expected, 1, true);
    for (std::uint64_t seed = 2; seed < 6; ++seed) {
        std::vector<Sequence> sequences = toy_sequences(toy.config.vocabulary);
        const int most = seed % 2 ? 64 : 7;
        Steps(*back_end(static_cast<int>(seed % 3) + 1), seed).run(sequences, most, false);
        EXPECT_TRUE(sequences == expected) << "seed " << seed;
    }
    for (const Loops* const loops : all_loops()) {
        std::vector<Sequence> sequences = toy_sequences(toy.config.vocabulary);
        Steps(*back_end(2, loops), 9).run(sequences, 33, false);
        EXPECT_TRUE(sequences == expected) << loops->name;
    }
}

TEST_P(CpuBackEndBits, ABlockTakesItsSequenceAlong) {
    std::vector<Sequence> expected(1), moved(1);
    expected[0].prompt = moved[0].prompt = random_ids(40, toy.config.vocabulary, 3);
    const auto first = back_end(1), second = back_end(2);
    std::vector<Steps::State> states(1), other(1);
    Steps steps(*first, 1), onward(*second, 2);
    steps.run(expected, 64, true);

    Steps again(*first, 3);
    moved[0].tokens = 1;
    again.step(moved, states, {0}, 1);  // a token of the prompt at a time
    while (states[0].position < 21) again.step(moved, states, {0}, 1);
    std::vector<std::byte> bytes(first->block_bytes());
    other[0] = states[0];
    for (std::size_t b = 0; b < states[0].blocks.size(); ++b) {
        other[0].blocks[b] = 50 + static_cast<int>(b);
        first->read_block(states[0].blocks[b], bytes);
        second->write_block(other[0].blocks[b], bytes);
    }
    // Within the block: the five positions that are filled, over one that holds other numbers.
    std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
    second->write_block(40, bytes);
    second->copy_block(other[0].blocks[1], 40, 5);
    other[0].blocks[1] = 40;
    moved[0].tokens = 8;
    while (moved[0].ids.size() < 8) onward.step(moved, other, {0}, 64);
    EXPECT_TRUE(moved == expected);
}

INSTANTIATE_TEST_SUITE_P(
    Types, CpuBackEndBits,
    testing::Values(Case{nn::TensorType::f32, KvType::f32, ActivationType::exact},
                    Case{nn::TensorType::f16, KvType::bf16, ActivationType::exact},
                    Case{nn::TensorType::bf16, KvType::f32, ActivationType::int8},
                    Case{nn::TensorType::bf16, KvType::bf16, ActivationType::exact},
                    Case{nn::TensorType::q8_0, KvType::f32, ActivationType::exact},
                    Case{nn::TensorType::q4_1, KvType::f32, ActivationType::int8},
                    Case{nn::TensorType::q4_0, KvType::bf16, ActivationType::int8}));

// Every element of a block's keys and values has a place of its own.
TEST(KvLayout, IsOneToOne) {
    for (const KvType type : {KvType::f32, KvType::bf16})
        for (const int width : {16, 17, 40, 64}) {
            const KvLayout layout(type, width);
            std::vector<int> taken(static_cast<std::size_t>(layout.elements()));
            for (int p = 0; p < block_positions; ++p)
                for (int i = 0; i < width; ++i) {
                    EXPECT_LT(layout.key(i, p), layout.keys());
                    EXPECT_GE(layout.value(p, i), layout.keys());
                    ++taken.at(static_cast<std::size_t>(layout.key(i, p)));
                    ++taken.at(static_cast<std::size_t>(layout.value(p, i)));
                }
            EXPECT_EQ(*std::max_element(taken.begin(), taken.end()), 1);
        }
}

// bf16 is rounded as everywhere else: ties to even, NaN stays NaN.
TEST(Loops, PutKeysAndValuesWhereTheLayoutSays) {
    const float special[] = {0.0f,
                             -0.0f,
                             1e-40f,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN(),
                             std::bit_cast<float>(0x7f800001u),
                             std::numeric_limits<float>::max(),
                             std::bit_cast<float>(0x3f808000u),
                             std::bit_cast<float>(0x3f818000u)};
    for (const Loops* const loops : all_loops())
        for (const int width : {16, 17, 40, 64})
            for (const int position : {0, 1, 15}) {
                std::vector<float> key, value;
                for (int i = 0; i < width; ++i) {
                    key.push_back(i % 2 ? 0.1f * static_cast<float>(i) : special[i / 2 % 9]);
                    value.push_back(1.0f / static_cast<float>(i - 20));
                }
                const KvLayout plain(KvType::f32, width), halves(KvType::bf16, width);
                std::vector<float> kept(static_cast<std::size_t>(plain.elements()), 7.0f);
                std::vector<std::uint16_t> kept_halves(static_cast<std::size_t>(halves.elements()),
                                                       7);
                auto expected = kept;
                auto expected_halves = kept_halves;
                for (int i = 0; i < width; ++i) {
                    const auto at = static_cast<std::size_t>(i);
                    const auto place = [&](auto& all, int where) -> auto& {
                        return all[static_cast<std::size_t>(where)];
                    };
                    place(expected, plain.key(i, position)) = key[at];
                    place(expected, plain.value(position, i)) = value[at];
                    place(expected_halves, halves.key(i, position)) = nn::to_bfloat16(key[at]);
                    place(expected_halves, halves.value(position, i)) = nn::to_bfloat16(value[at]);
                }
                const auto put = [&](KvType type, auto& into) {
                    loops->put(type, width, position, key.data(), value.data(),
                               std::as_writable_bytes(std::span(into)).data());
                };
                put(KvType::f32, kept);
                put(KvType::bf16, kept_halves);
                EXPECT_EQ(std::memcmp(kept.data(), expected.data(), kept.size() * sizeof(float)), 0)
                    << loops->name << " " << width;
                EXPECT_EQ(kept_halves, expected_halves) << loops->name << " " << width;
            }
}

// Against arithmetic in double, and bit for bit against each other, whole vectors or not.
TEST(Loops, RotateAndNormalise) {
    for (const int width : {2, 24, 32, 64, 576}) {
        const auto random = [&](std::uint64_t seed, int count) {
            std::mt19937_64 engine(seed);
            std::normal_distribution<float> normal;
            std::vector<float> made(static_cast<std::size_t>(count));
            for (float& x : made) x = normal(engine);
            return made;
        };
        const std::vector<float> x = random(1, width), change = random(2, width),
                                 weight = random(3, width), cosine = random(4, width / 2),
                                 sine = random(5, width / 2);
        const auto half = static_cast<std::size_t>(width / 2);
        double squares = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            squares += std::pow(static_cast<double>(x[i]) + static_cast<double>(change[i]), 2);
        const double rms = std::sqrt(squares / width + 1e-5);
        std::vector<float> first_rotated, first_normalised;
        for (const Loops* const loops : all_loops()) {
            std::vector<float> rotated(x.size()), sum = x, normalised(x.size());
            loops->rotate(x.data(), cosine.data(), sine.data(), width / 2, 0.125f, rotated.data());
            loops->add_rms_norm(sum.data(), change.data(), weight.data(), 1e-5, width,
                                normalised.data());
            for (std::size_t i = 0; i < half; ++i) {
                EXPECT_NEAR(rotated[i], (x[i] * cosine[i] - x[i + half] * sine[i]) / 8, 1e-6);
                EXPECT_NEAR(rotated[i + half], (x[i + half] * cosine[i] + x[i] * sine[i]) / 8,
                            1e-6);
            }
            for (std::size_t i = 0; i < x.size(); ++i) {
                EXPECT_EQ(sum[i], x[i] + change[i]);
                const double expected = static_cast<double>(sum[i]) / rms * weight[i];
                EXPECT_NEAR(normalised[i], expected, 1e-6 * (1 + std::abs(expected)));
            }
            if (first_rotated.empty()) {
                first_rotated = rotated;
                first_normalised = normalised;
            }
            EXPECT_EQ(rotated, first_rotated) << loops->name << " " << width;
            EXPECT_EQ(normalised, first_normalised) << loops->name << " " << width;
            const std::vector<float> no_change(x.size());
            loops->add_rms_norm(sum.data(), no_change.data(), weight.data(), 1e-5, width,
                                sum.data());
            EXPECT_EQ(sum, first_normalised) << "in place, " << loops->name << " " << width;
        }
    }
}

// Against a forward pass in double, whose softmax is taken in double too.
TEST(CpuBackEndOracle, LogProbabilities) {
    for (const bool llama : {true, false}) {
        const nn::ToyModel toy =
            long_toy(llama ? nn::toy_llama_config() : nn::toy_gpt2_config(), 41);
        const std::vector<int> ids = random_ids(300, toy.config.vocabulary, 5);
        const std::vector<Row> logits = ReferenceDecoder(toy).logits(ids);
        for (const auto& [kv, tolerance] : {std::pair{KvType::f32, 2e-5}, {KvType::bf16, 2e-2}}) {
            CpuBackEnd back_end(load_model(toy_file(toy), {}), {.blocks = 20, .kv = kv});
            std::vector<Sequence> sequences(1);
            sequences[0].prompt = ids;
            sequences[0].tokens = 1;
            Steps(back_end, 1).run(sequences, 64, true);
            for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
                double sum = 0;
                for (const double logit : logits[i]) sum += std::exp(logit);
                const double expected =
                    logits[i][static_cast<std::size_t>(ids[i + 1])] - std::log(sum);
                ASSERT_NEAR(sequences[0].scores[i], expected, tolerance) << i;
            }
        }
    }
}

TEST(CpuBackEndFaults, NanEndsItsSequenceAlone) {
    const nn::ToyModel toy = long_toy(nn::toy_llama_config(), 51);
    CpuBackEnd back_end(load_model(toy_file(toy), {}), {.blocks = 8});
    const std::vector<int> ids = random_ids(10, toy.config.vocabulary, 1);
    const std::vector<int> own{2}, others{3};
    const auto slice = [&](const std::vector<int>& blocks, int first, int count, bool picks) {
        return Slice{.ids = std::span(ids).subspan(static_cast<std::size_t>(first),
                                                   static_cast<std::size_t>(count)),
                     .first_position = first,
                     .blocks = blocks,
                     .picks = picks};
    };
    std::vector<Outcome> out(2);
    back_end.run(std::vector{slice(own, 0, 9, false), slice(others, 0, 9, false)}, out);
    std::vector<std::byte> bytes(back_end.block_bytes());
    back_end.read_block(3, bytes);
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(bytes.data(), &nan, sizeof nan);
    back_end.write_block(3, bytes);
    back_end.run(std::vector{slice(own, 9, 1, true), slice(others, 9, 1, true)}, out);
    EXPECT_TRUE(out[0].finite);
    EXPECT_FALSE(out[1].finite);
    std::vector<Outcome> alone(1);
    back_end.run(std::vector{slice(own, 9, 1, true)}, alone);
    EXPECT_EQ(out[0].id, alone[0].id);
    EXPECT_EQ(out[0].log_probability, alone[0].log_probability);
}

TEST(CpuBackEndPick, ForcedAndAllowed) {
    const nn::ToyModel toy = long_toy(nn::toy_llama_config(), 61);
    CpuBackEnd back_end(load_model(toy_file(toy), {}), {.blocks = 2});
    const std::vector<int> ids{1, 2, 3}, blocks{1};
    Slice slice{.ids = ids, .first_position = 0, .blocks = blocks, .picks = true};
    std::vector<Outcome> out(1), other(1);
    back_end.run({&slice, 1}, out);
    slice.pick.forced = out[0].id;
    back_end.run({&slice, 1}, other);
    EXPECT_EQ(other[0].id, out[0].id);
    EXPECT_EQ(other[0].log_probability, out[0].log_probability);
    slice.pick.forced = -1;
    std::vector<std::uint64_t> allowed{~(std::uint64_t{1} << out[0].id)};
    slice.pick.allowed = allowed;
    for (const double temperature : {0.0, 1.0}) {
        slice.pick.sampling.temperature = temperature;
        for (slice.pick.draw = 0; slice.pick.draw < 20; ++slice.pick.draw) {
            back_end.run({&slice, 1}, other);
            EXPECT_NE(other[0].id, out[0].id);
            EXPECT_LT(other[0].log_probability, out[0].log_probability);
        }
    }
}

// Networks that leave out neurons: tokens choose different experts, and are added up as if alone.
TEST(CpuBackEndBitsOfNetworks, DoNotDependOnTheBatch) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.hidden = toy_expert_size * toy_experts;
    config.context = 400;
    const nn::ToyModel toy = nn::toy_model(config, 71);
    // More experts than there are chunks of their sums, so that a chunk's depend on how it is cut.
    const auto layers = [&] {
        constexpr int experts = 4 * toy_experts;
        std::vector<SparseLayer> all = toy_sparse_layers(toy, 0.0f);
        for (SparseLayer& layer : all) {
            layer.expert_size = toy_expert_size / 4;
            layer.experts = experts;
            const auto router = nn::grid_weights(static_cast<std::size_t>(experts * config.width),
                                                 static_cast<std::uint64_t>(&layer - all.data()));
            layer.router.resize(router.size() * sizeof(float));
            std::memcpy(layer.router.data(), router.data(), layer.router.size());
        }
        return all;
    };
    const auto run = [&](std::uint64_t seed, int threads, int most, bool alone) {
        const auto model = load_model(toy_file(toy), {});
        model->replace_networks(std::make_unique<SparseNetworks>(config, layers(), std::nullopt),
                                "test");
        CpuBackEnd back_end(model, {.blocks = 60, .threads = threads});
        std::vector<Sequence> sequences = toy_sequences(config.vocabulary);
        Steps(back_end, seed).run(sequences, most, alone);
        return sequences;
    };
    const std::vector<Sequence> expected = run(1, 1, 1, true);
    for (std::uint64_t seed = 2; seed < 5; ++seed)
        EXPECT_TRUE(run(seed, static_cast<int>(seed) - 1, 64, false) == expected) << seed;
}

// SmolLM2: a batch and one by one agree in every bit, and with what its logits say.
TEST(SmolLM2BackEnd, ABatchGivesTheBitsOfOneByOne) {
    const char* const path = std::getenv("ASSAY_TEST_MODEL");
    if (!path) GTEST_SKIP() << "needs ASSAY_TEST_MODEL, the GGUF file of SmolLM2-135M-Instruct";
    const nn::TensorFile file(path);
    const auto model = load_model(file, {});
    for (const ActivationType activations : {ActivationType::exact, ActivationType::int8}) {
        const PassOptions options{.blocks = 40, .activations = activations};
        const auto fresh = [&] {
            std::vector<Sequence> sequences(5);
            for (std::size_t s = 0; s < sequences.size(); ++s) {
                sequences[s].prompt = random_ids(5 + 19 * static_cast<int>(s), 49152, s);
                sequences[s].tokens = 10;
            }
            sequences[3].sampling = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = 3};
            return sequences;
        };
        std::vector<Sequence> alone = fresh(), batch = fresh();
        CpuBackEnd back_end(model, options);
        Steps(back_end, 1).run(alone, 20, true);
        Steps(back_end, 2).run(batch, 64, false);
        EXPECT_TRUE(alone == batch);
        if (activations == ActivationType::int8) continue;
        LoneSequence logits_of(model);
        for (const Sequence& sequence : alone) {
            logits_of.reset();
            auto logits = logits_of.feed(sequence.prompt);
            for (std::size_t i = 0; i < sequence.ids.size(); ++i) {
                const int id = sequence.ids[i];
                const auto likeliest = std::max_element(logits.begin(), logits.end());
                if (sequence.sampling.temperature == 0) {
                    EXPECT_EQ(id, likeliest - logits.begin());
                }
                double sum = 0;
                for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
                EXPECT_NEAR(
                    sequence.log_probabilities[i],
                    static_cast<double>(logits[static_cast<std::size_t>(id)]) - std::log(sum),
                    1e-6);
                logits = logits_of.feed({&id, 1});
            }
        }
    }
}

}  // namespace
}  // namespace assay::decode
