// The distributed training against a training of the same model in one process, without any
// distribution: same batches, gate choices compared first, then the parameters.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "tests/lazarus/training/threads_as_ranks.hpp"

namespace assay::lazarus {
namespace {

constexpr int workers = 4;
constexpr double undecided_margin = 1e-9;  // a gate closer than this may flip by rounding alone

std::string text() {
    std::string result;
    for (int i = 0; i < 4000; ++i)
        result +=
            "The quick brown fox " + std::to_string(i * 7919 % 1000) + " jumps over the dog.\n";
    return result;
}

TrainingConfig config(at::ScalarType dtype) {
    TrainingConfig c;
    c.model = {.layers = 2,
               .width = 32,
               .heads = 2,
               .experts = 6,
               .hidden = 64,
               .context = 24,
               .dtype = dtype};
    c.sequences = 2;
    c.seed = 7;
    return c;
}

ModelPlacement skewed_holders(const TrainingConfig& c) {
    std::vector<Loads> loads{{100, 5, 40, 3, 20, 60}, {1, 90, 2, 30, 30, 8}};
    loads.resize(static_cast<std::size_t>(c.model.layers));
    return make_model_plan(loads, workers, /*slots=*/3, /*min_replicas=*/1, PlacementPolicy::mro)
        .placement;
}

// The reference: dense and every expert in one place, the global batch at once.
struct OneProcess {
    explicit OneProcess(const TrainingConfig& c, const nn::ByteCorpus& corpus)
        : config(c), trainer(c, corpus), corpus(corpus) {
        trainer.make_initial(dense_key);
        for (int layer = 0; layer < c.model.layers; ++layer)
            for (int e = 0; e < c.model.experts; ++e) trainer.make_initial({layer, e});
    }
    nn::GateTrace step(std::int64_t number) {
        std::vector<std::vector<const nn::ParameterBlock*>> experts;
        for (int layer = 0; layer < config.model.layers; ++layer) {
            experts.emplace_back();
            for (int e = 0; e < config.model.experts; ++e)
                experts.back().push_back(trainer.find({layer, e}));
        }
        for (const auto& key : trainer.keys()) trainer.find(key)->zero_grad();
        nn::LocalExperts local(experts);
        nn::GateTrace trace;
        const auto tokens =
            corpus.batch(config.seed, number, 0, workers * config.sequences, config.model.context);
        nn::ForcedChoice forced;
        if (!config.routing.empty()) {
            forced = [&](int layer, std::int64_t rows) {
                return RoutingReplay(config.routing_source()).at(number).choices(layer, 0, rows);
            };
        }
        const auto loss =
            nn::moe_gpt_loss(config.model, *trainer.find(dense_key), local, tokens, &trace, forced);
        (loss / static_cast<double>(workers * config.sequences * config.model.context)).backward();
        trainer.apply(number);
        return trace;
    }
    TrainingConfig config;
    Trainer trainer;
    const nn::ByteCorpus& corpus;
};

// Which gates differ beyond what rounding can explain; rows of rank r follow those of rank r - 1.
int flips(const nn::GateTrace& whole, const std::vector<nn::GateTrace>& ranks, bool& undecided) {
    int count = 0;
    for (std::size_t layer = 0; layer < whole.choice.size(); ++layer) {
        std::size_t row = 0;
        for (const auto& trace : ranks) {
            for (auto choice : trace.choice[layer]) {
                if (choice != whole.choice[layer][row]) {
                    if (whole.margin[layer][row] < undecided_margin)
                        undecided = true;
                    else
                        ++count;
                }
                ++row;
            }
        }
        EXPECT_EQ(row, whole.choice[layer].size());
    }
    return count;
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
    return ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item<double>();
}

// Groups of two, the shares held in an order as a node mapping may leave it: groups {0, 1}, {3, 2}.
ModelPlacement grouped_holders(const TrainingConfig& c) {
    return ModelPlacement(static_cast<std::size_t>(c.model.layers),
                          {{0, 1, 2}, {3, 4, 5}, {3, 4, 5}, {0, 1, 2}});
}

void compare(int steps, const TrainingConfig& c, const ModelPlacement& holders, double tolerance) {
    at::set_num_threads(1);
    const auto corpus = nn::ByteCorpus::from_text(text());
    OneProcess reference(c, corpus);
    std::vector<nn::GateTrace> expected;
    for (int step = 0; step < steps; ++step) expected.push_back(reference.step(step));

    std::vector<std::vector<nn::GateTrace>> traces(static_cast<std::size_t>(steps),
                                                   std::vector<nn::GateTrace>(workers));
    std::vector<std::unique_ptr<Trainer>> trainers;
    for (int rank = 0; rank < workers; ++rank) {
        trainers.push_back(std::make_unique<Trainer>(c, corpus));
        for (const auto& key : blocks_of(holders, rank)) trainers.back()->make_initial(key);
    }
    on_ranks(workers, [&](int rank, cluster::Communicator& comm) {
        auto& trainer = *trainers[static_cast<std::size_t>(rank)];
        for (int step = 0; step < steps; ++step) {
            trainer.compute(
                step, holders, comm, {},
                &traces[static_cast<std::size_t>(step)][static_cast<std::size_t>(rank)]);
            trainer.apply(step);
        }
    });

    bool undecided = false;
    for (int step = 0; step < steps; ++step) {
        const auto s = static_cast<std::size_t>(step);
        ASSERT_EQ(flips(expected[s], traces[s], undecided), 0) << "step " << step;
    }
    if (undecided) GTEST_SKIP() << "a gate's margin was below " << undecided_margin;
    for (const auto& trainer : trainers) {
        for (const auto& key : trainer->keys()) {
            const auto mine = trainer->find(key)->state();
            const auto theirs = reference.trainer.find(key)->state();
            for (std::size_t part = 0; part < mine.size(); ++part)
                EXPECT_LT(relative_difference(mine[part], theirs[part]), tolerance)
                    << block_name(key) << " part " << part;
        }
    }
}

TEST(OneProcessOracle, TwentyFloat64StepsAgree) {
    const auto c = config(at::kDouble);
    compare(20, c, skewed_holders(c), 1e-9);
}

TEST(OneProcessOracle, OneFloat32StepAgrees) {
    const auto c = config(at::kFloat);
    compare(1, c, skewed_holders(c), 2e-4);
}

// Padding in every slice but the largest: whatever it contributed would show here.
TEST(OneProcessOracle, TwentyFloat64StepsOfPaddedGroupsAgree) {
    auto c = config(at::kDouble);
    c.group = 2;
    compare(20, c, grouped_holders(c), 1e-9);
}

TEST(OneProcessOracle, TwentyFloat64StepsOfReplayedRoutingAgree) {
    auto c = config(at::kDouble);
    c.routing = "synthetic";
    compare(20, c, skewed_holders(c), 1e-9);
}

TEST(OneProcessOracle, ReplicasOfAnExpertStayEqualBitForBit) {
    const auto c = config(at::kFloat);
    const auto corpus = nn::ByteCorpus::from_text(text());
    const auto holders = skewed_holders(c);
    std::vector<std::map<BlockKey, std::uint64_t>> digests(workers);
    on_ranks(workers, [&](int rank, cluster::Communicator& comm) {
        Trainer trainer(c, corpus);
        for (const auto& key : blocks_of(holders, rank)) trainer.make_initial(key);
        for (int step = 0; step < 5; ++step) {
            trainer.compute(step, holders, comm);
            trainer.apply(step);
        }
        digests[static_cast<std::size_t>(rank)] = trainer.digests();
    });
    std::map<BlockKey, std::uint64_t> first;
    std::map<BlockKey, int> holders_seen;
    for (const auto& mine : digests) {
        for (const auto& [key, digest] : mine) {
            EXPECT_EQ(first.try_emplace(key, digest).first->second, digest) << block_name(key);
            ++holders_seen[key];
        }
    }
    EXPECT_EQ(holders_seen[dense_key], workers);
    EXPECT_EQ(first.size(), 1u + 12u);  // every expert of both layers has a holder
}

TEST(OneProcessOracle, TrainingLowersTheLoss) {
    const auto c = config(at::kFloat);
    const auto corpus = nn::ByteCorpus::from_text(text());
    const auto holders = skewed_holders(c);
    std::vector<double> first(workers), last(workers);
    on_ranks(workers, [&](int rank, cluster::Communicator& comm) {
        Trainer trainer(c, corpus);
        for (const auto& key : blocks_of(holders, rank)) trainer.make_initial(key);
        for (int step = 0; step < 40; ++step) {
            const auto result = trainer.compute(step, holders, comm);
            trainer.apply(step);
            (step == 0 ? first : last)[static_cast<std::size_t>(rank)] = result.loss;
        }
    });
    EXPECT_EQ(first, std::vector<double>(workers, first[0]));  // every rank reports the same bits
    EXPECT_LT(last[0], first[0] - 1.0);
}

}  // namespace
}  // namespace assay::lazarus
