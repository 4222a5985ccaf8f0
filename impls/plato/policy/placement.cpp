#include "impls/plato/policy/placement.hpp"

#include <algorithm>

namespace assay::plato {

std::optional<decode::Seat> Placement::choose(const Node& node,
                                              std::span<const decode::Place> places) const {
    const decode::Place* best = nullptr;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const decode::Place& place = places[i];
        if (!place.takes || place.model != node.model) continue;
        std::int64_t here =
            node.most_reused > 0 ? std::min(cached(place.seat, node.tokens), node.most_reused) : 0;
        if (!node.linked.empty()) here += node.linked[i];
        if (best && (here < most || (here == most && place.given >= best->given))) continue;
        best = &place;
        most = here;
    }
    return best ? std::optional(best->seat) : std::nullopt;
}

void Placement::add(decode::Seat seat, std::span<const int> tokens) {
    prefixes_.try_emplace(seat, blocks_).first->second.add(tokens);
}

std::int64_t Placement::cached(decode::Seat seat, std::span<const int> tokens) const {
    const auto found = prefixes_.find(seat);
    return found == prefixes_.end() ? 0 : found->second.match(tokens);
}

}  // namespace assay::plato
