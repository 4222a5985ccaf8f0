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
    double rows() const;  ///< of all ranks
    /// T as dispatchers want it: [experts][ranks], row-major.
    std::vector<Tokens> tokens() const;
};

}  // namespace assay::lazarus
