// How the next token is chosen: greedily at temperature 0, else out of the softmax, seeded, of the
// top-k, and of these the fewest that have the share top-p.
#pragma once

#include <cstdint>

namespace assay::decode {

struct Sampling {
    double temperature = 0;
    int top_k = 0;  ///< 0: all
    double top_p = 1.0;
    std::uint64_t seed = 1;
};

/// Throws UserError: numbers that make no sense.
void check(const Sampling& sampling);

}  // namespace assay::decode
