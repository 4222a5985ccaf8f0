#include "suite/scenario/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "suite/scenario/rings.hpp"

namespace assay {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Calls use(port, latency_s) for each port that an edge of the rings goes up, as often as edges
/// do. (Down it are as many: a ring leaves whatever it enters.) A ring of one has no edges.
template <class Use>
void for_ports_up(const Topology& topology, const std::vector<std::vector<int>>& orders,
                  const Use& use) {
    for (const std::vector<int>& ring : orders) {
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const auto route = topology.route(ring[i], ring[(i + 1) % ring.size()]);
            for (int hop = 0; hop < route.hops; ++hop) use(route.up[index(hop)], route.latency_s);
        }
    }
}

std::vector<int> everyone(int ranks) {
    std::vector<int> all(index(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// Numbers of messages by their latency, of which there are few.
class Latencies {
  public:
    void add(double latency_s) {
        for (auto& [known, messages] : messages_)
            if (known == latency_s) {
                ++messages;
                return;
            }
        messages_.emplace_back(latency_s, 1);
    }
    double sum() const {
        double sum = 0;
        for (const auto& [latency_s, messages] : messages_) sum += messages * latency_s;
        return sum;
    }

  private:
    std::vector<std::pair<double, int>> messages_;
};

}  // namespace

void check_ranks(int ranks) {
    if (ranks < 1) throw std::invalid_argument(fmt::format("{} ranks", ranks));
}

void check_volumes(std::size_t volumes, int ranks) {
    check_ranks(ranks);
    if (volumes != index(ranks) * index(ranks))
        throw std::invalid_argument(
            fmt::format("an all-to-all of {} ranks takes {} volumes, not {}", ranks,
                        index(ranks) * index(ranks), volumes));
}

void check_groups(std::span<const double> bytes, std::span<const std::vector<int>> groups,
                  int ranks) {
    check_ranks(ranks);
    if (bytes.size() != groups.size())
        throw std::invalid_argument(
            fmt::format("{} volumes for {} groups of ranks", bytes.size(), groups.size()));
    for (const auto& group : groups)
        for (const int rank : group)
            if (rank < 0 || rank >= ranks)
                throw std::invalid_argument(
                    fmt::format("rank {} in a group of {} ranks", rank, ranks));
}

double ClosedForm::all_to_all(std::span<const double> bytes, int ranks) const {
    check_volumes(bytes.size(), ranks);
    topology_.require(ranks);
    std::vector<double> up(index(topology_.ports(ranks))), down(up.size());
    double latencies = 0;
    for (int from = 0; from < ranks; ++from) {
        Latencies messages;
        for (int to = 0; to < ranks; ++to) {
            if (from == to) continue;
            const auto route = topology_.route(from, to);
            const double volume = bytes[index(from) * index(ranks) + index(to)];
            for (int hop = 0; hop < route.hops; ++hop) {
                up[index(route.up[index(hop)])] += volume;
                down[index(route.down[index(hop)])] += volume;
            }
            messages.add(route.latency_s);
        }
        latencies = std::max(latencies, messages.sum());
    }
    double busiest = 0;
    for (std::size_t port = 0; port < up.size(); ++port)
        busiest = std::max(busiest, std::max(up[port], down[port]) /
                                        topology_.port(static_cast<int>(port)).bandwidth);
    return busiest + latencies;
}

double ClosedForm::all_reduce(double bytes, int ranks) const {
    check_ranks(ranks);
    const std::vector<int> group = everyone(ranks);
    return grouped_all_reduce(std::span(&bytes, 1), std::span(&group, 1), ranks);
}

double ClosedForm::grouped_all_reduce(std::span<const double> bytes,
                                      std::span<const std::vector<int>> groups, int ranks) const {
    check_groups(bytes, groups, ranks);
    topology_.require(ranks);
    struct Load {
        double bytes = 0, latencies = 0;
    };
    std::vector<Load> loads(index(topology_.ports(ranks)));
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const int members = static_cast<int>(groups[g].size());
        const auto orders = rings(topology_, groups[g]);
        const double volume = ring_share(members) * bytes[g] / static_cast<double>(orders.size());
        for_ports_up(topology_, orders, [&](int port, double latency_s) {
            Load& load = loads[index(port)];
            load.bytes += volume;
            load.latencies = std::max(load.latencies, ring_messages(members) * latency_s);
        });
    }
    double busiest = 0;
    for (std::size_t port = 0; port < loads.size(); ++port)
        busiest =
            std::max(busiest, loads[port].bytes / topology_.port(static_cast<int>(port)).bandwidth +
                                  loads[port].latencies);
    return busiest;
}

double ClosedForm::all_gather(double bytes, int ranks) const {
    check_ranks(ranks);
    topology_.require(ranks);
    const auto orders = rings(topology_, everyone(ranks));
    struct Load {
        double bytes = 0, latency_s = 0;
    };
    std::vector<Load> loads(index(topology_.ports(ranks)));
    for_ports_up(topology_, orders, [&](int port, double latency_s) {
        Load& load = loads[index(port)];
        load.bytes += bytes / static_cast<double>(orders.size());
        load.latency_s = std::max(load.latency_s, latency_s);
    });
    double slowest = 0;
    for (std::size_t port = 0; port < loads.size(); ++port)
        slowest =
            std::max(slowest, loads[port].bytes / topology_.port(static_cast<int>(port)).bandwidth +
                                  loads[port].latency_s);
    return (ranks - 1) * slowest;
}

std::shared_ptr<const Network> ClosedForm::among(std::span<const int> ranks) const {
    return std::make_shared<ClosedForm>(topology_.among(ranks));
}

}  // namespace assay
