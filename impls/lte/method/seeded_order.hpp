// A random order that is a function of its seed on every platform.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "impls/nn/counter_hash.hpp"

namespace assay::lte {

/// A permutation of 0 … n − 1 (Fisher and Yates).
inline std::vector<std::int64_t> seeded_order(std::int64_t n, std::uint64_t seed) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t draw = nn::counter_hash(seed);
    for (std::size_t i = order.size(); i > 1; --i) {
        draw = nn::counter_hash(draw);
        std::swap(order[i - 1], order[draw % i]);
    }
    return order;
}

}  // namespace assay::lte
