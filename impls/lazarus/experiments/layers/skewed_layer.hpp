// One MoE layer of Fig. 10a on logical ranks: who holds what, and where the rows want to go.
// Torch-free; the exact half counts on it, the measured half computes it.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct SkewedLayer {
    static constexpr int experts = 8;
    int width = 0;  ///< of the model; an expert's hidden layer is four times as wide
    DispatchRule rule;
    Placement holders;                               ///< [rank]
    std::vector<std::vector<std::int64_t>> choices;  ///< [rank][row]: its expert

    int ranks() const { return static_cast<int>(holders.size()); }
    /// Of all ranks.
    double rows() const {
        double rows = 0;
        for (const auto& of_rank : choices) rows += static_cast<double>(of_rank.size());
        return rows;
    }
    /// T as dispatchers want it: [experts][ranks], row-major.
    std::vector<Tokens> tokens() const {
        std::vector<Tokens> tokens(static_cast<std::size_t>(experts) * holders.size(), 0);
        for (std::size_t rank = 0; rank < choices.size(); ++rank)
            for (const auto expert : choices[rank])
                ++tokens[static_cast<std::size_t>(expert) * holders.size() + rank];
        return tokens;
    }
};

}  // namespace assay::lazarus
