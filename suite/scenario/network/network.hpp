// What communication between ranks costs: collectives, priced by an interface with two
// implementations. Here in closed form (latency + volume over bandwidth, Hockney, the busiest port
// decides); suite/drive/simgrid simulates the same transfers as flows that share links.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "suite/scenario/network/topology.hpp"
#include "suite/scenario/network/traffic.hpp"

namespace assay {

/// An all-to-all by what it adds up to on each rank; and, for a network that goes by single
/// messages and has few ranks, by the table of them.
struct Exchange {
    std::vector<RankTraffic> ranks;              ///< [rank] bytes, by the sites of the network
    std::function<std::vector<double>()> pairs;  ///< bytes [from][to], row-major
};

/// The same messages the other way.
Exchange reversed(const Exchange&);

/// All in seconds. std::invalid_argument: numbers of ranks or volumes that do not go together.
/// UserError: more ranks than the network has.
class Network {
  public:
    virtual ~Network() = default;

    /// Bytes [from][to], row-major, ranks × ranks; the diagonal is free.
    virtual double all_to_all(std::span<const double> bytes, int ranks) const = 0;
    /// The same, priced as the implementation can: in closed form by the totals, without a table.
    virtual double all_to_all(const Exchange&) const = 0;
    /// Around rings of all ranks (rings.hpp); 0 for one rank.
    virtual double all_reduce(double bytes, int ranks) const = 0;
    /// All-reduces of different groups at once: bytes[g] around the rings of the ranks groups[g].
    virtual double grouped_all_reduce(std::span<const double> bytes,
                                      std::span<const std::vector<int>> groups,
                                      int ranks) const = 0;
    /// `bytes` from everyone to everyone, around the same rings.
    virtual double all_gather(double bytes, int ranks) const = 0;

    /// The same network with these ranks alone, ranks[i] as rank i: those that are left after some
    /// were lost, say.
    virtual std::shared_ptr<const Network> among(std::span<const int> ranks) const = 0;

    virtual const Topology& topology() const = 0;
    virtual std::string says() const = 0;  ///< how it prices, for the record: "closed form"
};

/// The busiest port decides, as if it were never idle; messages of a rank follow one another, so
/// that their latencies add up. Exact where every port is as busy as any other; how far off it is
/// elsewhere is what suite/drive/simgrid measures.
class ClosedForm final : public Network {
  public:
    explicit ClosedForm(Topology topology) : topology_(std::move(topology)) {}

    /// max over ports of max(bytes up, bytes down) / bandwidth, plus the latencies of a rank's
    /// messages to all others, of the rank where that is most.
    double all_to_all(std::span<const double> bytes, int ranks) const override;
    /// The same up to rounding. O(ranks).
    double all_to_all(const Exchange&) const override;
    /// 2 (n-1)/n · bytes / bandwidth + 2 (n-1) latencies, bandwidth and latency of the slowest port
    /// and of the longest route on the ring.
    double all_reduce(double bytes, int ranks) const override;
    /// Per port the ring volumes of all groups that use it, and the latencies of that group which
    /// takes longest (rings overlap); the busiest port decides.
    double grouped_all_reduce(std::span<const double> bytes,
                              std::span<const std::vector<int>> groups, int ranks) const override;
    /// (n-1) · (bytes / bandwidth + latency), of the slowest port and the longest route.
    double all_gather(double bytes, int ranks) const override;

    std::shared_ptr<const Network> among(std::span<const int> ranks) const override;
    const Topology& topology() const override { return topology_; }
    std::string says() const override { return "closed form"; }

  private:
    double messages_s(int ranks) const;

    Topology topology_;
};

// What both implementations check and count alike.

void check_ranks(int ranks);
void check_volumes(std::size_t volumes, int ranks);  ///< of an all-to-all
void check_groups(std::span<const double> bytes, std::span<const std::vector<int>> groups,
                  int ranks);

/// Share of a buffer that each rank of a ring sends in an all-reduce.
inline double ring_share(int ranks) { return 2.0 * (ranks - 1) / ranks; }
/// Messages that follow one another in it.
inline int ring_messages(int ranks) { return 2 * (ranks - 1); }

}  // namespace assay
