#include "impls/decode/drawn_experts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "impls/nn/counter_hash.hpp"

namespace assay::decode {

void draw_experts(const FixedActive& fixed, int layer, int position, std::span<std::uint8_t> mask) {
    std::fill(mask.begin(), mask.end(), std::uint8_t{0});
    std::vector<std::int32_t> permutation(mask.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::uint64_t random =
        nn::counter_hash(nn::counter_hash(fixed.seed + static_cast<std::uint64_t>(layer)) +
                         static_cast<std::uint64_t>(position));
    for (std::size_t i = 0; i < static_cast<std::size_t>(fixed.count); ++i) {
        random = nn::counter_hash(random);
        std::swap(permutation[i], permutation[i + random % (mask.size() - i)]);
        mask[static_cast<std::size_t>(permutation[i])] = 1;
    }
}

}  // namespace assay::decode
