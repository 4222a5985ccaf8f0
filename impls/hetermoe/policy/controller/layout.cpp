#include "impls/hetermoe/policy/controller/layout.hpp"

#include <algorithm>

#include "impls/hetermoe/policy/expert_map.hpp"

namespace assay::hetermoe {

int Layout::group_of(int rank) const {
    return is_attention(rank) ? rank / group.attention : (rank - attention_ranks()) / group.expert;
}

std::vector<int> Layout::ranks_of(int group_number) const {
    std::vector<int> members;
    for (int i = 0; i < group.attention; ++i) members.push_back(group_number * group.attention + i);
    for (int i = 0; i < group.expert; ++i)
        members.push_back(attention_ranks() + group_number * group.expert + i);
    return members;
}

int Layout::rank_of(Worker worker) const {
    const auto found = std::find(ranks.begin(), ranks.end(), worker);
    return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

std::vector<BlockKey> blocks_of(const Layout& layout, int experts, int rank) {
    const std::vector<int> members = layout.ranks_of(layout.group_of(rank));
    std::vector<BlockKey> blocks;
    if (layout.is_attention(rank)) blocks.push_back(nn::dense_key);
    for (int layer = 0; layer < layout.layers(); ++layer) {
        const std::vector<int> home =
            homes(experts, layout.group, layout.offload[static_cast<std::size_t>(layer)]);
        for (int expert = 0; expert < experts; ++expert) {
            const auto gpu = static_cast<std::size_t>(home[static_cast<std::size_t>(expert)]);
            if (members[gpu] == rank) blocks.emplace_back(layer, expert);
        }
    }
    return blocks;
}

std::vector<int> holders_of(const Layout& layout, int experts, const BlockKey& block) {
    std::vector<int> holders;
    if (block == nn::dense_key) {
        for (int rank = 0; rank < layout.attention_ranks(); ++rank) holders.push_back(rank);
        return holders;
    }
    const std::vector<int> home =
        homes(experts, layout.group, layout.offload[static_cast<std::size_t>(block.first)]);
    const auto gpu = static_cast<std::size_t>(home[static_cast<std::size_t>(block.second)]);
    for (int group = 0; group < layout.groups; ++group)
        holders.push_back(layout.ranks_of(group)[gpu]);
    return holders;
}

std::vector<MicroBatch> micro_batches_of(const Layout& layout, std::int64_t sequences, int rank) {
    const std::int64_t ranks = layout.attention_ranks(), all = ranks * layout.micro_batches;
    std::vector<MicroBatch> batches;
    for (int j = 0; j < layout.micro_batches; ++j) {
        const std::int64_t number = j * ranks + rank;
        const std::int64_t first = number * sequences / all;
        batches.push_back({first, (number + 1) * sequences / all - first});
    }
    return batches;
}

}  // namespace assay::hetermoe
