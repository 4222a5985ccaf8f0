// What a trainer tells of a step, and what it refuses: hooks, values that are not finite, damaged
// state, replayed routing.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/training/state_transfer.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "suite/base/error.hpp"
#include "tests/lazarus/training/threads_as_ranks.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const nn::ByteCorpus& corpus() {
    static const auto text = nn::ByteCorpus::from_text([] {
        std::string lines;
        for (int i = 0; i < 500; ++i) lines += std::to_string(i * 7919 % 1000) + " sheep\n";
        return lines;
    }());
    return text;
}

TrainingConfig config() {
    TrainingConfig c;
    c.model = {.layers = 2, .width = 16, .heads = 2, .experts = 4, .hidden = 16, .context = 8};
    c.sequences = 4;
    return c;
}

ModelPlacement halves() { return {{{0, 1}, {2, 3}}, {{0, 1}, {2, 3}}}; }

Trainer trainer_of(const TrainingConfig& c, const ModelPlacement& holders, int rank) {
    Trainer trainer(c, corpus());
    for (const auto& key : blocks_of(holders, rank)) trainer.make_initial(key);
    return trainer;
}

TEST(StepHooks, TellTheOrderOfAStepAndTheCounts) {
    const auto c = config();
    using Phase = StepHooks::Phase;
    std::vector<std::vector<std::string>> seen(2);
    std::vector<std::vector<Tokens>> counts(2);
    on_ranks(2, [&](int rank, cluster::Communicator& comm) {
        auto trainer = trainer_of(c, halves(), rank);
        auto& mine = seen[static_cast<std::size_t>(rank)];
        StepHooks hooks;
        hooks.done = [&](Phase phase, int layer) {
            mine.push_back(std::to_string(static_cast<int>(phase)) + "@" + std::to_string(layer));
        };
        hooks.counted = [&](int layer, std::span<const Tokens> tokens) {
            mine.push_back("counted@" + std::to_string(layer));
            if (layer == 1)
                counts[static_cast<std::size_t>(rank)].assign(tokens.begin(), tokens.end());
        };
        const auto result = trainer.compute(0, halves(), comm, hooks);
        for (std::size_t e = 0; e < 4; ++e) {
            EXPECT_EQ(counts[static_cast<std::size_t>(rank)][2 * e] +
                          counts[static_cast<std::size_t>(rank)][2 * e + 1],
                      result.loads[1][e]);
        }
    });
    EXPECT_THAT(seen[0], ElementsAre("0@0", "counted@0", "1@0", "2@0", "3@0", "0@1", "counted@1",
                                     "1@1", "2@1", "3@1", "4@-1", "5@-1", "6@-1"));
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(counts[0], counts[1]);
}

TEST(NotFinite, APoisonedActivationIsFoundOnEveryRankAndNeverApplied) {
    const auto c = config();
    std::vector<std::string> found(2);
    on_ranks(2, [&](int rank, cluster::Communicator& comm) {
        auto trainer = trainer_of(c, halves(), rank);
        const auto before = trainer.digests();
        if (rank == 1) trainer.poison_next_step();
        const auto result = trainer.compute(0, halves(), comm);
        found[static_cast<std::size_t>(rank)] = result.not_finite;
        EXPECT_TRUE(std::isnan(result.loss));  // the sum over ranks
        EXPECT_THROW(trainer.apply(0), std::logic_error);
        EXPECT_EQ(trainer.digests(), before);
        // Once only, and the trainer is as good as before.
        EXPECT_EQ(trainer.compute(0, halves(), comm).not_finite, "");
        trainer.apply(0);
        EXPECT_NE(trainer.digests(), before);
    });
    EXPECT_EQ(found[1], "loss");
    EXPECT_THAT(found[0], HasSubstr("gradient of "));
}

TEST(Seals, EveryFlippedBitIsFoundInItsBlock) {
    auto trainer = trainer_of(config(), halves(), 0);
    std::set<BlockKey> struck;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        ASSERT_FALSE(trainer.corrupted_block());
        const auto block = trainer.flip_bit_of_state(seed);
        ASSERT_TRUE(block);
        ASSERT_EQ(trainer.corrupted_block(), block) << "seed " << seed;
        struck.insert(*block);
        trainer.flip_bit_of_state(seed);  // and back
    }
    EXPECT_EQ(struck.size(), trainer.keys().size());
    EXPECT_FALSE(Trainer(config(), corpus()).flip_bit_of_state(1));
}

TEST(Seals, OrderMattersToADigest) {
    auto trainer = trainer_of(config(), halves(), 0);
    auto values = trainer.find(dense_key)->values();
    auto* data = values.data_ptr<float>();
    for (const int distance : {1, 2, 8, 16, 32}) {  // within a word, a lane, a stride
        std::swap(data[100], data[100 + distance]);
        EXPECT_EQ(trainer.corrupted_block(), dense_key) << distance;
        std::swap(data[100], data[100 + distance]);
    }
    EXPECT_FALSE(trainer.corrupted_block());
}

TEST(Seals, AStepKeepsThemAndATransferCarriesThem) {
    const auto c = config();
    on_ranks(2, [&](int rank, cluster::Communicator& comm) {
        auto trainer = trainer_of(c, halves(), rank);
        trainer.compute(0, halves(), comm);
        trainer.apply(0);
        EXPECT_FALSE(trainer.corrupted_block());
        Reconfigure plan;
        plan.members = plan.training = {4, 7};
        plan.transfers = {{0, 1, 4, 7}, {1, 0, 4, 7}};
        if (rank == 0) trainer.find({1, 0})->first_moment().data_ptr<float>()[3] += 1;
        EXPECT_EQ(transfer_state(plan, comm, trainer).blocks_received, rank == 1 ? 2 : 0);
        // The damage of the sender's block is known where it arrived.
        EXPECT_EQ(trainer.corrupted_block(), (BlockKey{1, 0}));
    });
}

TEST(RoutingReplay, ChoicesDoNotDependOnTheNumberOfRanks) {
    auto c = config();
    c.routing = "synthetic";
    const auto choices = [&](int ranks) {
        auto shared = c;
        shared.sequences = 8 / ranks;
        std::vector<nn::GateTrace> traces(static_cast<std::size_t>(ranks));
        ModelPlacement all(2, Placement(static_cast<std::size_t>(ranks), {0, 1, 2, 3}));
        on_ranks(ranks, [&](int rank, cluster::Communicator& comm) {
            auto trainer = trainer_of(shared, all, rank);
            trainer.compute(3, all, comm, {}, &traces[static_cast<std::size_t>(rank)]);
        });
        std::vector<std::vector<std::int64_t>> rows(2);
        for (const auto& trace : traces)
            for (std::size_t layer = 0; layer < 2; ++layer)
                rows[layer].insert(rows[layer].end(), trace.choice[layer].begin(),
                                   trace.choice[layer].end());
        return rows;
    };
    const auto one = choices(1);
    EXPECT_EQ(one, choices(4));
    EXPECT_NE(one[0], one[1]);
    EXPECT_EQ(one[0].size(), 64u);
}

TEST(RoutingReplay, SharesFollowTheLoads) {
    const std::vector<Loads> loads{{700, 0, 200, 100}};
    const StepRouting routing(5, 9, loads);
    std::vector<double> seen(4, 0);
    const int rows = 100000;
    for (auto e : routing.choices(0, 0, rows)) seen[static_cast<std::size_t>(e)] += 1.0 / rows;
    for (std::size_t e = 0; e < 4; ++e)  // six standard deviations
        EXPECT_NEAR(seen[e], static_cast<double>(loads[0][e]) / 1000, 6 * 0.5 / std::sqrt(rows));
    EXPECT_EQ(seen[1], 0);
    EXPECT_NE(routing.choices(0, 0, 50), StepRouting(5, 10, loads).choices(0, 0, 50));
    EXPECT_NE(routing.choices(0, 0, 50), StepRouting(6, 9, loads).choices(0, 0, 50));
    EXPECT_THROW(StepRouting(5, 9, {{0, 0}}), UserError);
}

}  // namespace
}  // namespace assay::lazarus
