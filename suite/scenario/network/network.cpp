#include "suite/scenario/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "suite/scenario/network/rings.hpp"

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

Exchange reversed(const Exchange& exchange) {
    Exchange back = exchange;
    for (RankTraffic& rank : back.ranks) std::swap(rank.sent, rank.received);
    if (!exchange.pairs) return back;
    back.pairs = [pairs = exchange.pairs, ranks = exchange.ranks.size()] {
        const std::vector<double> there = pairs();
        std::vector<double> bytes(there.size());
        for (std::size_t from = 0; from < ranks; ++from)
            for (std::size_t to = 0; to < ranks; ++to)
                bytes[to * ranks + from] = there[from * ranks + to];
        return bytes;
    };
    return back;
}

/// Latencies of a rank's messages to all others, of the rank where that is most. A message's is
/// half of that of each port it passes, so sums over nodes and racks give those over ranks.
double ClosedForm::messages_s(int ranks) const {
    if (topology_.any_number()) return (ranks - 1) * topology_.port(0).latency_s;
    struct Sum {
        double halves_s = 0;  ///< of the port that they all pass
        int ranks = 0;
        double of_others(const Sum& part, double mine_s) const {
            return halves_s - part.halves_s + (ranks - part.ranks) * mine_s;
        }
    };
    const auto half = [&](int port) { return port < 0 ? 0 : topology_.port(port).latency_s / 2; };
    const RankSites sites = topology_.sites(ranks);
    std::vector<Sum> inside(index(sites.nodes)), out(index(sites.nodes)), up(index(sites.racks));
    Sum all_out, all_up;
    const auto add = [](Sum& sum, double half_s) { sum.halves_s += half_s, ++sum.ranks; };
    for (int rank = 0; rank < ranks; ++rank) {
        const Topology::Place place = topology_.place(rank);
        add(inside[index(sites.node[index(rank)])], half(place.inside));
        add(out[index(sites.node[index(rank)])], half(place.nic));
        add(all_out, half(place.nic));
        add(up[index(sites.rack[index(rank)])], half(place.rack));
        add(all_up, half(place.rack));
    }
    double most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const Topology::Place place = topology_.place(rank);
        const int node = sites.node[index(rank)], rack = sites.rack[index(rank)];
        const Sum self = {half(place.inside), 1};
        most = std::max(most, inside[index(node)].of_others(self, half(place.inside)) +
                                  all_out.of_others(out[index(node)], half(place.nic)) +
                                  all_up.of_others(up[index(rack)], half(place.rack)));
    }
    return most;
}

double ClosedForm::all_to_all(const Exchange& exchange) const {
    const int ranks = static_cast<int>(exchange.ranks.size());
    check_ranks(ranks);
    topology_.require(ranks);
    struct Load {
        double up = 0, down = 0;
    };
    std::vector<Load> loads(index(topology_.ports(ranks)));
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& [sent, received] = exchange.ranks[index(rank)];
        const Topology::Place place = topology_.place(rank);
        const auto pass = [&](int port, double up, double down) {
            if (port < 0) return;
            loads[index(port)].up += up;
            loads[index(port)].down += down;
        };
        pass(place.inside, sent.inside_node, received.inside_node);
        pass(place.nic, sent.leaves_node(), received.leaves_node());
        pass(place.rack, sent.between_racks, received.between_racks);
    }
    double busiest = 0;
    for (std::size_t port = 0; port < loads.size(); ++port)
        busiest = std::max(busiest, std::max(loads[port].up, loads[port].down) /
                                        topology_.port(static_cast<int>(port)).bandwidth);
    return busiest + messages_s(ranks);
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
