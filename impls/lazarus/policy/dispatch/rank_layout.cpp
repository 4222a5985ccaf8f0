#include "impls/lazarus/policy/dispatch/rank_layout.hpp"

#include <fmt/format.h>

#include "suite/base/error.hpp"

namespace assay::lazarus {

void clear(RankLayout& layout, int experts, int ranks) {
    const auto peers = static_cast<std::size_t>(ranks);
    layout.experts = experts;
    layout.ranks = ranks;
    layout.send.assign(peers * static_cast<std::size_t>(experts), {});
    layout.receive.assign(layout.send.size(), {});
}

void lay_out(RankLayout& layout) {
    const auto ranks = static_cast<std::size_t>(layout.ranks);
    const auto experts = static_cast<std::size_t>(layout.experts);
    layout.send_counts.assign(ranks, 0);
    layout.receive_counts.assign(ranks, 0);
    layout.send_total = layout.receive_total = 0;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        for (std::size_t i = peer * experts; i < (peer + 1) * experts; ++i) {
            Segment& out = layout.send[i];
            out.first_row = layout.send_total;
            // Ordinals follow the destinations: this one begins where the previous one's ended.
            out.first_ordinal =
                peer == 0 ? 0
                          : layout.send[i - experts].first_ordinal + layout.send[i - experts].rows;
            layout.send_counts[peer] += out.room;
            layout.send_total += out.room;

            Segment& in = layout.receive[i];
            in.first_row = layout.receive_total;
            layout.receive_counts[peer] += in.room;
            layout.receive_total += in.room;
        }
    }
}

std::vector<std::int64_t> send_places(const RankLayout& layout,
                                      const std::vector<std::int64_t>& choices) {
    std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(layout.experts));
    for (std::size_t row = 0; row < choices.size(); ++row)
        members[static_cast<std::size_t>(choices[row])].push_back(static_cast<std::int64_t>(row));
    std::vector<std::int64_t> places(choices.size());
    for (const auto& segment : layout.send) {
        const auto e = static_cast<std::size_t>(&segment - layout.send.data()) %
                       static_cast<std::size_t>(layout.experts);
        for (Tokens i = 0; i < segment.rows; ++i) {
            const auto row = members[e][static_cast<std::size_t>(segment.first_ordinal + i)];
            places[static_cast<std::size_t>(row)] = segment.first_row + i;
        }
    }
    return places;
}

void rank_layout(const DispatchPlan& plan, int rank, RankLayout& layout) {
    if (rank < 0 || rank >= plan.ranks) {
        throw UserError(fmt::format("rank {} of {} ranks", rank, plan.ranks));
    }
    clear(layout, plan.experts, plan.ranks);
    for (int peer = 0; peer < plan.ranks; ++peer) {
        for (int e = 0; e < plan.experts; ++e) {
            Segment& out = layout.to(peer, e);
            out.rows = plan.at(e, rank, peer);
            out.room = plan.room(e, rank, peer);
            Segment& in = layout.from(peer, e);
            in.rows = plan.at(e, peer, rank);
            in.room = plan.room(e, peer, rank);
        }
    }
    lay_out(layout);
}

RankLayout rank_layout(const DispatchPlan& plan, int rank) {
    RankLayout layout;
    rank_layout(plan, rank, layout);
    return layout;
}

}  // namespace assay::lazarus
