// Random calls of the dispatch with the memory they point to. For tests and benchmarks.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/reference/random_problem.hpp"

namespace assay::kernels::reference {

/// A random call with the memory it points to. Outputs start as -7, a guard behind them.
struct DispatchProblem {
    DispatchProblem(int experts, int ranks, int most_rows, std::uint64_t seed)
        : experts(experts), ranks(ranks) {
        std::mt19937_64 random(seed);
        rank = draw(random, 0, ranks - 1);
        const auto pairs = static_cast<std::size_t>(experts * ranks);
        tokens.assign(pairs, 0);
        for (std::size_t i = 0; i < pairs; ++i) {
            replicas.push_back(draw(random, 0, 3) == 0 ? draw(random, 1, 3) : 0);
            if (draw(random, 0, 3)) tokens[i] = draw(random, 0, 2 * most_rows / experts + 1);
        }
        // Mostly everybody's expert is held somewhere.
        for (int e = 0; e < experts; ++e)
            if (draw(random, 0, 19)) ++replicas[at(e, draw(random, 0, ranks - 1))];
        for (int e = 0; e < experts; ++e)
            choices.insert(choices.end(), static_cast<std::size_t>(tokens[at(e, rank)]), e);
        std::shuffle(choices.begin(), choices.end(), random);
        const std::int64_t all = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
        receive_room = static_cast<int>(all);
        clear();
    }
    std::size_t at(int expert, int of_rank) const {
        return static_cast<std::size_t>(expert * ranks + of_rank);
    }
    void clear() {
        constexpr std::size_t guard = 3;
        const auto pairs = static_cast<std::size_t>(experts * ranks);
        send_first.assign(pairs + 1 + guard, -7);
        receive_first = send_first;
        expert_first.assign(static_cast<std::size_t>(experts) + 1 + guard, -7);
        places.assign(choices.size() + guard, -7);
        grouped.assign(static_cast<std::size_t>(receive_room) + guard, -7);
    }
    AssayDispatch call() {
        return {experts,
                ranks,
                rank,
                tokens.data(),
                replicas.data(),
                static_cast<std::int32_t>(choices.size()),
                choices.data(),
                receive_room,
                send_first.data(),
                receive_first.data(),
                places.data(),
                expert_first.data(),
                grouped.data()};
    }

    int experts, ranks, rank = 0, receive_room = 0;
    std::vector<std::int32_t> tokens, replicas, choices;
    std::vector<std::int32_t> send_first, receive_first, places, expert_first, grouped;
};

}  // namespace assay::kernels::reference
