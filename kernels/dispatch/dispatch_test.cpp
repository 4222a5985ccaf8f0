// The CPU back end's dispatch, which others are compared with: by hand, by what must hold between
// ranks, and (tests/lazarus/policy) by Lazarus' own dispatcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/reference/dispatch_test.hpp"

namespace assay::kernels {
namespace {

using reference::DispatchProblem;
using testing::ElementsAre;

class CpuDispatch : public testing::Test {
  protected:
    AssayStatus run(DispatchProblem& problem) {
        const AssayDispatch call = problem.call();
        return kernels.dispatch(context.get(), &call);
    }
    const AssayKernels& kernels = *assay_cpu_kernels(nullptr);
    reference::Context context = reference::make_context(&kernels, 1);
};

TEST_F(CpuDispatch, OrdersRowsByRankThenByExpert) {
    // Two experts on three ranks; rank 0 has 5 rows for expert 0 and holds expert 1 alone; ranks 1
    // and 2 share expert 0. Capacities of expert 0: 4 and 3.
    DispatchProblem problem(2, 3, 1, 1);
    problem.rank = 0;
    problem.tokens = {5, 0, 2, 1, 0, 0};
    problem.replicas = {0, 1, 1, 2, 0, 0};
    problem.choices = {0, 1, 0, 0, 0, 0};
    problem.receive_room = 1;
    problem.clear();
    ASSERT_EQ(run(problem), ASSAY_OK);
    // Rank 2 keeps its two; four of the five go to rank 1, one to rank 2.
    EXPECT_THAT(problem.send_first, ElementsAre(0, 0, 1, 5, 5, 6, 6, -7, -7, -7));
    EXPECT_THAT(problem.places, ElementsAre(1, 0, 2, 3, 4, 5, -7, -7, -7));
    EXPECT_THAT(problem.receive_first, ElementsAre(0, 0, 1, 1, 1, 1, 1, -7, -7, -7));
    EXPECT_THAT(problem.expert_first, ElementsAre(0, 0, 1, -7, -7, -7));
    EXPECT_THAT(problem.grouped, ElementsAre(0, -7, -7, -7));
}

TEST_F(CpuDispatch, SendsWhatTheOtherExpects) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        DispatchProblem problem(1 + static_cast<int>(seed % 7), 6, 60, seed);
        std::vector<DispatchProblem> of_rank;
        for (problem.rank = 0; problem.rank < 6; ++problem.rank) {
            problem.choices.clear();
            for (int e = 0; e < problem.experts; ++e)
                problem.choices.insert(
                    problem.choices.end(),
                    static_cast<std::size_t>(problem.tokens[problem.at(e, problem.rank)]), e);
            problem.clear();
            ASSERT_EQ(run(problem), ASSAY_OK);
            of_rank.push_back(problem);
        }
        const auto rows = [&](const std::vector<std::int32_t>& first, int peer, int expert) {
            const auto i = static_cast<std::size_t>(peer * problem.experts + expert);
            return first[i + 1] - first[i];
        };
        for (int from = 0; from < 6; ++from)
            for (int to = 0; to < 6; ++to)
                for (int e = 0; e < problem.experts; ++e)
                    ASSERT_EQ(rows(of_rank[static_cast<std::size_t>(from)].send_first, to, e),
                              rows(of_rank[static_cast<std::size_t>(to)].receive_first, from, e));
    }
}

TEST_F(CpuDispatch, MovesRowsThereAndBack) {
    reference::expect_moves(
        [&](const AssayRowMove& call, std::size_t, std::size_t, bool back) {
            ASSERT_EQ((back ? kernels.unshuffle : kernels.shuffle)(context.get(), &call), ASSAY_OK);
        },
        40);
}

TEST_F(CpuDispatch, RefusesWhatItCannotDo) {
    DispatchProblem problem(2, 3, 10, 1);
    const AssayDispatch good = problem.call();
    const auto refused = [&](const auto& change) {
        AssayDispatch call = good;
        change(call);
        return kernels.dispatch(context.get(), &call) == ASSAY_BAD_ARGUMENT;
    };
    EXPECT_TRUE(refused([](AssayDispatch& c) { c.rank = 3; }));
    EXPECT_TRUE(refused([](AssayDispatch& c) { c.ranks = 1025; }));
    EXPECT_TRUE(refused([](AssayDispatch& c) { c.rows = -1; }));
    EXPECT_TRUE(refused([](AssayDispatch& c) { c.places = nullptr; }));
    EXPECT_EQ(kernels.dispatch(context.get(), nullptr), ASSAY_BAD_ARGUMENT);
    AssayRowMove move{0, 0, 24, nullptr, nullptr, nullptr};
    EXPECT_EQ(kernels.shuffle(context.get(), &move), ASSAY_BAD_ARGUMENT);
    move.row_bytes = 32;
    EXPECT_EQ(kernels.shuffle(context.get(), &move), ASSAY_OK);
    move.rows = 1;
    EXPECT_EQ(kernels.unshuffle(context.get(), &move), ASSAY_BAD_ARGUMENT);
}

}  // namespace
}  // namespace assay::kernels
