// One rank's part in an exchange: what it sends to and receives from every other, and where that
// lies in its buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/lazarus/policy/dispatch/dispatch_plan.hpp"

namespace assay::lazarus {

/// Rows of one exchange buffer that belong to one expert and one peer.
struct Segment {
    Tokens first_row = 0;
    Tokens rows = 0;  ///< that hold tokens
    /// Send side only: the segment holds this rank's tokens of the expert with ordinals
    /// first_ordinal … first_ordinal + rows - 1 (in the order of the batch).
    Tokens first_ordinal = 0;
    Tokens room = 0;  ///< rows that belong to the segment: `rows`, then padding
};

/// What one rank sends and receives. Buffers are ordered by peer rank, and by expert within a peer;
/// the combine step is the same exchange with the two sides swapped.
struct RankLayout {
    int experts = 0;
    int ranks = 0;
    std::vector<Tokens> send_counts;     ///< [ranks] rows (padding too) for each destination
    std::vector<Tokens> receive_counts;  ///< [ranks] rows (padding too) from each source
    std::vector<Segment> send;           ///< [ranks][experts]: by destination, then expert
    std::vector<Segment> receive;        ///< [ranks][experts]: by source, then expert
    Tokens send_total = 0;
    Tokens receive_total = 0;

    const Segment& to(int destination, int expert) const {
        return send[index(destination, expert)];
    }
    const Segment& from(int source, int expert) const { return receive[index(source, expert)]; }
    Segment& to(int destination, int expert) { return send[index(destination, expert)]; }
    Segment& from(int source, int expert) { return receive[index(source, expert)]; }

  private:
    std::size_t index(int peer, int expert) const {
        return static_cast<std::size_t>(peer) * static_cast<std::size_t>(experts) +
               static_cast<std::size_t>(expert);
    }
};

/// An exchange in which nothing is sent yet.
void clear(RankLayout& layout, int experts, int ranks);

/// Lays the buffers out: from `rows` and `room` of every segment follows all the rest.
void lay_out(RankLayout& layout);

/// Where each row of the rank lies in the buffer that is sent: by destination, then by expert, an
/// expert's tokens in batch order. choices: the expert of each row.
std::vector<std::int64_t> send_places(const RankLayout& layout,
                                      const std::vector<std::int64_t>& choices);

/// The part of `rank` in a plan of all. O(experts · ranks).
RankLayout rank_layout(const DispatchPlan& plan, int rank);
void rank_layout(const DispatchPlan& plan, int rank, RankLayout& layout);

}  // namespace assay::lazarus
