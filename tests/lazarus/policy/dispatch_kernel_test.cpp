// The kernels' dispatch (kernels/dispatch) computes what FlexibleDispatcher says.
#include <gtest/gtest.h>

#include "impls/lazarus/policy/dispatch/flexible_dispatcher.hpp"
#include "kernels/reference/dispatch_test.hpp"

namespace assay::lazarus {
namespace {

using kernels::reference::DispatchProblem;

Placement holders_of(const DispatchProblem& problem) {
    Placement holders(static_cast<std::size_t>(problem.ranks));
    for (int rank = 0; rank < problem.ranks; ++rank)
        for (int e = 0; e < problem.experts; ++e)
            holders[static_cast<std::size_t>(rank)].insert(
                holders[static_cast<std::size_t>(rank)].end(),
                static_cast<std::size_t>(problem.replicas[problem.at(e, rank)]), e);
    return holders;
}

TEST(DispatchKernel, LaysRowsOutAsTheDispatcherSays) {
    const AssayKernels& cpu = *assay_cpu_kernels(nullptr);
    const auto context = kernels::reference::make_context(&cpu, 1);
    std::mt19937_64 random(5);
    for (int round = 0; round < 300; ++round) {
        DispatchProblem problem(1 + static_cast<int>(random() % 12),
                                1 + static_cast<int>(random() % 12),
                                1 + static_cast<int>(random() % 300), random());
        for (int e = 0; e < problem.experts; ++e)
            ++problem.replicas[problem.at(e, e % problem.ranks)];
        const AssayDispatch call = problem.call();
        ASSERT_EQ(cpu.dispatch(context.get(), &call), ASSAY_OK);

        const std::vector<Tokens> tokens(problem.tokens.begin(), problem.tokens.end());
        RankLayout layout;
        FlexibleDispatcher(holders_of(problem), problem.experts)
            .layout(tokens, problem.rank, layout);
        Tokens grouped = 0;
        for (int e = 0; e < problem.experts; ++e) {
            EXPECT_EQ(problem.expert_first[static_cast<std::size_t>(e)], grouped);
            for (int peer = 0; peer < problem.ranks; ++peer) {
                const auto i = static_cast<std::size_t>(peer * problem.experts + e);
                const Segment &to = layout.to(peer, e), &from = layout.from(peer, e);
                ASSERT_EQ(problem.send_first[i], to.first_row);
                ASSERT_EQ(problem.send_first[i + 1], to.first_row + to.rows);
                ASSERT_EQ(problem.receive_first[i], from.first_row);
                for (Tokens row = 0; row < from.rows; ++row)
                    ASSERT_EQ(problem.grouped[static_cast<std::size_t>(from.first_row + row)],
                              grouped++);
                // The rows of these ordinals, in the order of the batch.
                Tokens ordinal = -1;
                for (std::size_t row = 0; row < problem.choices.size(); ++row) {
                    if (problem.choices[row] != e) continue;
                    if (++ordinal < to.first_ordinal || ordinal >= to.first_ordinal + to.rows)
                        continue;
                    ASSERT_EQ(problem.places[row], to.first_row + ordinal - to.first_ordinal);
                }
            }
        }
        ASSERT_EQ(problem.send_first.at(static_cast<std::size_t>(problem.ranks * problem.experts)),
                  layout.send_total);
    }
}

}  // namespace
}  // namespace assay::lazarus
