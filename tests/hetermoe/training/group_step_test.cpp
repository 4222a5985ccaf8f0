// A training split over attention and expert ranks against one process without any split, and the
// order in which its tasks run.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "impls/hetermoe/policy/tasks.hpp"
#include "impls/hetermoe/training/loads.hpp"
#include "impls/hetermoe/training/routes.hpp"
#include "impls/nn/all_to_all.hpp"
#include "impls/nn/moe/stages.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "tests/hetermoe/training/small_training.hpp"

namespace assay::hetermoe {
namespace {

struct Split {
    Group group;
    int groups, micro_batches;
    std::vector<int> offload;
};

std::ostream& operator<<(std::ostream& out, const Split& split) {
    return out << split.groups << "x" << split.group.attention << ":" << split.group.expert << " R "
               << split.micro_batches;
}

class SplitTraining : public testing::TestWithParam<Split> {
  protected:
    Layout layout() const {
        const auto& split = GetParam();
        return layout_of(split.group, split.groups, split.micro_batches, split.offload);
    }
};

TEST_P(SplitTraining, EqualsOneProcessInDouble) {
    const auto settings = small_training(at::kDouble);
    PlannedTraining split(settings, sheep());
    OneProcess whole(settings, sheep());
    for (std::int64_t step = 0; step < 6; ++step) {
        const double loss = split.train({step, 1, layout()}).loss;
        EXPECT_NEAR(loss, whole.train(step, layout()), 1e-12 * loss) << "step " << step;
    }
    EXPECT_LT(largest_difference(split, whole.state()), 1e-9);
}

// Gradients are what a step adds up; the first moments after one step are a tenth of them.
TEST_P(SplitTraining, OneStepInFloatHasItsGradients) {
    const auto settings = small_training(at::kFloat);
    PlannedTraining split(settings, sheep());
    OneProcess whole(settings, sheep());
    const double loss = split.train({0, 1, layout()}).loss;
    EXPECT_NEAR(loss, whole.train(0, layout()), 1e-5 * loss);
    for (const auto& key : whole.state().keys()) {
        const auto ours = split.find(key)->state()[1], wanted = whole.state().find(key)->state()[1];
        EXPECT_LE((ours - wanted).norm().item<double>(), 1e-5 * wanted.norm().item<double>())
            << nn::block_name(key);
    }
}

TEST_P(SplitTraining, RunsEveryTaskOnceAndInThePlannedOrder) {
    std::mutex mutex;
    std::map<int, QueueOrders> ran;
    PlannedTraining split(small_training(at::kFloat), sheep());
    split.train({0, 1, layout()}, [&](int rank, const Task& task) {
        std::lock_guard lock(mutex);
        ran[rank][static_cast<std::size_t>(queue_of(task.kind))].push_back(task);
    });
    const auto planned = layout();
    const QueueOrders orders =
        zebra_orders({.micro_batches = planned.micro_batches, .offload = planned.offload});
    for (int rank = 0; rank < static_cast<int>(planned.ranks.size()); ++rank)
        for (std::size_t queue = 0; queue < queues; ++queue) {
            const auto others = planned.is_attention(rank) ? Queue::expert : Queue::attention;
            const bool idle = queue == static_cast<std::size_t>(others);
            EXPECT_EQ(ran[rank][queue], idle ? std::vector<Task>{} : orders[queue])
                << "rank " << rank << " queue " << queue;
        }
}

INSTANTIATE_TEST_SUITE_P(
    Groups, SplitTraining,
    testing::Values(Split{{1, 1}, 1, 2, {0, 0, 0}}, Split{{2, 2}, 1, 2, {0, 0, 0}},
                    Split{{2, 2}, 1, 3, {1, 0, 2}}, Split{{1, 2}, 1, 3, {1, 1, 1}},
                    Split{{2, 1}, 1, 1, {4, 2, 8}}, Split{{1, 4}, 1, 2, {2, 0, 1}},
                    Split{{3, 2}, 1, 2, {0, 0, 0}}, Split{{1, 1}, 2, 2, {2, 0, 3}},
                    Split{{2, 2}, 2, 1, {0, 1, 0}}));

// Mixtral's layers, and experts that take only so many tokens: of a sequence, so that the groups
// do not matter.
class SplitModels : public testing::TestWithParam<SmallModel> {
  protected:
    TrainingSettings settings() const { return small_training(at::kDouble, 8, 3, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Models, SplitModels,
                         testing::Values(SmallModel{}, SmallModel{nn::MoeShape::mixtral},
                                         SmallModel{nn::MoeShape::gpt, 1.0},
                                         SmallModel{nn::MoeShape::mixtral, 0.6}));

TEST_P(SplitModels, EqualOneProcessInDouble) {
    for (const auto& layout :
         {layout_of({2, 2}, 1, 3, {1, 0, 2}), layout_of({1, 2}, 2, 4, {1, 1, 4})}) {
        PlannedTraining split(settings(), sheep());
        OneProcess whole(settings(), sheep());
        for (std::int64_t step = 0; step < 3; ++step) {
            const double loss = split.train({step, 1, layout}).loss;
            EXPECT_NEAR(loss, whole.train(step, layout), 1e-12 * loss) << "step " << step;
        }
        EXPECT_LT(largest_difference(split, whole.state()), 1e-9);
    }
}

// Losses are of the batch, not of the groups.
TEST_P(SplitModels, EqualSequencesGiveEqualLossesInEveryGroup) {
    const auto settings = this->settings();
    std::vector<std::vector<double>> losses;
    for (const auto& layout :
         {layout_of({1, 1}, 1, 2, {0, 0, 0}), layout_of({2, 2}, 1, 3, {1, 0, 2}),
          layout_of({1, 2}, 2, 1, {1, 1, 1}), layout_of({3, 4}, 1, 2, {0, 0, 0})}) {
        PlannedTraining training(settings, sheep());
        losses.emplace_back();
        for (std::int64_t step = 0; step < 4; ++step)
            losses.back().push_back(training.train({step, 1, layout}).loss);
    }
    for (const auto& other : losses)
        for (std::size_t step = 0; step < other.size(); ++step)
            EXPECT_NEAR(other[step], losses[0][step], 1e-12 * losses[0][step]);
    EXPECT_LT(losses[0].back(), losses[0].front());
}

TEST(SplitTrainings, TheSameTwiceToTheBit) {
    const auto settings = small_training(at::kFloat);
    StateDigests digests[2];
    for (auto& held : digests) {
        PlannedTraining training(settings, sheep());
        for (std::int64_t step = 0; step < 3; ++step)
            training.train({step, 1, layout_of({2, 2}, 1, 3, {1, 0, 2})});
        held = training.digests();
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_TRUE(agrees(digests[0], digests[1]));
    digests[1].begin()->second.begin()->second ^= 1;
    EXPECT_FALSE(agrees(digests[0], digests[1]));
}

// A capacity that nothing exceeds drops nothing; a smaller one changes what is learned.
TEST(SplitTrainings, OnlyACapacityThatIsExceededMatters) {
    const auto loss_at = [](double factor) {
        PlannedTraining training(small_training(at::kDouble, 8, 3, {nn::MoeShape::gpt, factor}),
                                 sheep());
        return training.train({0, 1, layout_of({2, 2}, 1, 3, {1, 0, 2})}).loss;
    };
    const double dropless = loss_at(0);
    EXPECT_NEAR(loss_at(4), dropless, 1e-12 * dropless);  // 4 · 2 · 12 / 8: all tokens
    EXPECT_GT(std::abs(loss_at(0.5) - dropless), 1e-6 * dropless);
}

// What the paper gains by it: sizes are known before anything is routed.
TEST(Routes, WithFixedCapacityEqualNumbersGoToEveryExpert) {
    const LayerHomes homes{1, {1, 2, 1, 2}};
    const auto chosen = at::tensor(std::vector<std::int64_t>{3, 3, 3, 0, 1, 3}, at::kLong);
    const Choices choices{.chosen = chosen.view({3, 2}),
                          .kept = nn::with_room(chosen.view({3, 2}), 3, 4, 2),
                          .rows_each = 2};
    const auto outgoing = address(choices, homes, 3);
    EXPECT_THAT(outgoing.by_expert, testing::ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(outgoing.rows, testing::ElementsAre(0, 4, 4));
    const auto incoming = fixed_counts({2}, homes, 2, 3, at::kCPU);
    EXPECT_THAT(incoming.rows, testing::ElementsAre(4, 0, 0));
    EXPECT_THAT(incoming.by_expert, testing::ElementsAre(2, 2));
    // Rows 1 … 6 go out; those dropped come back as zeros.
    const auto rows = at::arange(1, 7, at::kDouble).view({6, 1});
    const auto sent = outgoing.sent(rows), back = outgoing.came_back(sent);
    EXPECT_TRUE(at::equal(sent.flatten(), at::tensor({4., 0., 0., 0., 5., 0., 1., 3.}))) << sent;
    EXPECT_TRUE(at::equal(back.flatten(), at::tensor({1., 0., 3., 4., 5., 0.}))) << back;
}

// What a group of two attention and two expert ranks is sent, some of it nothing: the same in one
// message as after the counts, and back with every choice.
TEST(Routes, RowsWithTheirCountsAreAsRowsAfterTheirCounts) {
    const LayerHomes homes{2, {2, 2, 0, 3, 3, 3}};
    const std::vector<std::vector<std::int64_t>> chosen{{0, 3, 5, 2, 0, 1, 0, 5}, {4, 3}};
    const auto links = cluster::make_in_process_group(4);
    std::vector<std::thread> threads;
    for (const int rank : {0, 1, 2, 3})
        threads.emplace_back([&, rank] {
            auto& comm = *links[static_cast<std::size_t>(rank)];
            const bool sends = rank < 2;
            const auto choices =
                sends ? at::tensor(chosen[static_cast<std::size_t>(rank)], at::kLong).view({-1, 2})
                      : at::Tensor();
            const auto outgoing =
                sends ? address({.chosen = choices, .kept = {}}, homes, 4) : nothing_to_send(4);
            const auto rows = at::arange(sends ? choices.numel() : 0, at::kDouble)
                                  .add(100 * rank)
                                  .view({-1, 1})
                                  .repeat({1, 3});
            const auto sent = sends ? outgoing.sent(rows) : rows;
            const auto at_once = deliver_at_once(outgoing, sent, homes, comm),
                       after = deliver_after_counts(outgoing, sent, homes, comm);
            EXPECT_TRUE(at::equal(at_once.rows, after.rows)) << rank;
            EXPECT_TRUE(at::equal(at_once.incoming.order, after.incoming.order)) << rank;
            EXPECT_TRUE(at::equal(at_once.incoming.places, after.incoming.places)) << rank;
            EXPECT_EQ(at_once.incoming.rows, after.incoming.rows) << rank;
            EXPECT_EQ(at_once.incoming.by_expert, after.incoming.by_expert) << rank;
            const std::vector<std::int64_t> wanted[]{{1}, {}, {3, 1}, {2, 1, 2}};
            EXPECT_EQ(at_once.incoming.by_expert, wanted[rank]) << rank;
            if (rank == 3) {  // expert by expert, each from rank 0, then rank 1
                const auto sorted =
                    at_once.rows.index_select(0, at_once.incoming.order).select(1, 0);
                EXPECT_TRUE(at::equal(sorted, at::tensor({1., 101., 100., 2., 7.}))) << sorted;
            }
            const auto back =
                nn::exchange_rows(at_once.rows, at_once.incoming.rows, outgoing.rows, comm);
            if (sends) {
                EXPECT_TRUE(at::equal(outgoing.came_back(back), rows)) << rank;
            }
        });
    for (auto& thread : threads) thread.join();
}

// What broke the group, not that it broke; and nobody is waited for.
TEST(SplitTrainings, AStepThatFailsSaysWhyAndAtOnce) {
    const auto layout = layout_of({1, 1}, 1, 2, {0, 0, 0});
    PlannedTraining by_the_last_rank(small_training(at::kFloat), sheep());
    const auto fails = [](int rank, const Task& task) {
        if (rank == 1 && task.kind == TaskKind::EF) throw std::domain_error("this one");
    };
    EXPECT_THROW(by_the_last_rank.train({0, 1, layout}, fails), std::domain_error);

    // The attention rank fails before its first task, where the expert rank waits for rows.
    auto settings = small_training(at::kFloat);
    settings.sequences = -4;
    PlannedTraining without_rows(settings, sheep());
    const auto before = std::chrono::steady_clock::now();
    EXPECT_THROW(without_rows.train({0, 1, layout}), c10::Error);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

// All experts have moved to the attention rank; nobody may report a loss that is no number.
TEST(SplitTrainings, ALossThatIsNotFiniteIsSoOnEveryRank) {
    const auto layout = layout_of({1, 1}, 1, 2, {8, 8, 8});
    std::vector<std::vector<std::unique_ptr<cluster::Communicator>>> groups;  // all, out, in
    for (int i = 0; i < 3; ++i) groups.push_back(cluster::make_in_process_group(2));
    std::vector<StepResult> results(2);
    std::vector<std::thread> threads;
    for (const std::size_t rank : {0, 1})
        threads.emplace_back([&, rank] {
            Trainer trainer(small_training(at::kFloat), sheep());
            const auto mine = blocks_of(layout, 8, static_cast<int>(rank));
            EXPECT_EQ(mine.empty(), rank == 1);
            for (const auto& key : mine) trainer.make_initial(key);
            if (rank == 1) trainer.poison_next_step();
            GroupLinks links(*groups[1][rank], *groups[2][rank]);
            results[rank] = trainer.compute(0, layout, {*groups[0][rank], links});
        });
    for (auto& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_EQ(result.not_finite, "loss");
}

// Loads that are given: every rank gets its rows, and numbers are one process' still.
TEST(SplitTrainings, GivenLoadsArriveAndChangeNoNumber) {
    auto settings = small_training(at::kDouble);
    settings.loads.assign(3, {0.5, 0.25, 0.125, 0.125, 0, 0, 0, 0});
    for (const auto& layout :
         {layout_of({2, 2}, 1, 2, {0, 0, 2}), layout_of({1, 1}, 1, 2, {8, 0, 4})}) {
        PlannedTraining split(settings, sheep());
        OneProcess whole(settings, sheep());
        for (std::int64_t step = 0; step < 2; ++step) {
            const double loss = split.train({step, 1, layout}).loss;
            EXPECT_NEAR(loss, whole.train(step, layout), 1e-12 * loss);
        }
        EXPECT_LT(largest_difference(split, whole.state()), 1e-9);
    }
}

TEST(SplitTrainings, DealtChoicesAreTheLoads) {
    const std::vector<double> loads{0.5, 0.05, 0, 0.25, 0.2};
    const auto chosen = dealt_choices(loads, 2, 100);
    ASSERT_EQ(chosen.size(), 200u);
    std::vector<int> counts(5);
    for (std::size_t row = 0; row < 100; ++row) {
        EXPECT_NE(chosen[2 * row], chosen[2 * row + 1]);
        for (const std::size_t k : {0, 1}) ++counts[static_cast<std::size_t>(chosen[2 * row + k])];
    }
    for (std::size_t expert = 0; expert < 5; ++expert)
        EXPECT_NEAR(counts[expert], 200 * loads[expert], 1) << expert;
}

// Groups that change by plan change no number either.
TEST(SplitTrainings, LayoutsMayChangeBetweenSteps) {
    const auto settings = small_training(at::kDouble);
    PlannedTraining split(settings, sheep());
    OneProcess whole(settings, sheep());
    const std::vector<Layout> layouts{
        layout_of({2, 2}, 1, 2, {1, 0, 1}), layout_of({1, 1}, 2, 2, {0, 2, 0}),
        layout_of({2, 1}, 1, 2, {2, 2, 2}), layout_of({1, 2}, 1, 2, {0, 0, 0})};
    for (std::int64_t step = 0; step < 8; ++step) {
        const auto& layout = layouts[static_cast<std::size_t>(step) % layouts.size()];
        const double loss = split.train({step, step, layout}).loss;
        EXPECT_NEAR(loss, whole.train(step, layout), 1e-12 * loss);
    }
    EXPECT_LT(largest_difference(split, whole.state()), 1e-9);
}

}  // namespace
}  // namespace assay::hetermoe
