#include "impls/decode/schedule/cached_prefixes.hpp"

#include <algorithm>

namespace assay::decode {

int CachedPrefixes::match(std::span<const int> tokens) const {
    blocks_.resize(static_cast<std::size_t>(blocks_for(static_cast<int>(tokens.size()))));
    return tree_.match(tokens, blocks_).tokens();
}

void CachedPrefixes::add(std::span<const int> tokens) {
    const int most = std::min(static_cast<int>(tokens.size()), pool_.size() * block_positions);
    tokens = tokens.first(static_cast<std::size_t>(most));
    blocks_.resize(static_cast<std::size_t>(blocks_for(most)));
    const int shared = tree_.match(tokens, blocks_).blocks;
    for (int i = 0; i < shared; ++i) tree_.hold(blocks_[static_cast<std::size_t>(i)]);
    for (std::size_t i = static_cast<std::size_t>(shared); i < blocks_.size(); ++i)
        blocks_[i] = tree_.take();
    PrefixTree::Place place = tree_.place_of(tokens, shared);
    tree_.extend(place, tokens, blocks_);
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) tree_.let_go(*block);
}

}  // namespace assay::decode
