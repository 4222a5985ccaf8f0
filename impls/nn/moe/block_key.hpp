// What a block of a mixture of experts' state is called. Without libtorch: policies know blocks.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::nn {

/// A unit of state: (layer, expert), both from 0, or dense_key for everything that is not an
/// expert.
using BlockKey = std::pair<int, int>;
inline constexpr BlockKey dense_key{-1, -1};

inline std::string block_name(const BlockKey& key) {
    return key == dense_key
               ? "dense"
               : "layer" + std::to_string(key.first) + "/expert" + std::to_string(key.second);
}

/// The dense one, then expert by expert.
inline std::vector<BlockKey> all_blocks(int layers, int experts) {
    std::vector<BlockKey> keys{dense_key};
    for (int layer = 0; layer < layers; ++layer)
        for (int expert = 0; expert < experts; ++expert) keys.emplace_back(layer, expert);
    return keys;
}

}  // namespace assay::nn
