#include "suite/scenario/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay {
namespace {

/// What is given or reached: a number times the share of it that is reached.
double reached(const Sourced& peak, const Sourced& share) { return peak.value * share.value; }

void check_ranks(int ranks) {
    if (ranks < 1) throw std::invalid_argument(fmt::format("{} ranks", ranks));
}

/// Share of a buffer that each rank of a ring sends in an all-reduce.
double ring_share(int ranks) { return 2.0 * (ranks - 1) / ranks; }

/// Messages that follow one another in it.
int ring_messages(int ranks) { return 2 * (ranks - 1); }

}  // namespace

CostModel::CostModel(ClusterProfile cluster) : cluster_(std::move(cluster)) {
    if (cluster_.devices.empty())
        throw UserError(fmt::format("cluster profile '{}' names no devices", cluster_.id));
    for (std::size_t i = 0; i < cluster_.devices.size(); ++i) {
        const auto first =
            std::find(cluster_.devices.begin(), cluster_.devices.end(), cluster_.devices[i]) -
            cluster_.devices.begin();
        // A device of which there are sixteen is read once.
        devices_.push_back(first < static_cast<std::ptrdiff_t>(i)
                               ? devices_[static_cast<std::size_t>(first)]
                               : device_profile(cluster_.devices[i]));
    }
}

const DeviceProfile& CostModel::device(int worker) const {
    if (worker < 0) throw std::invalid_argument(fmt::format("worker {}", worker));
    return devices_[static_cast<std::size_t>(worker) % devices_.size()];
}

double CostModel::compute(int worker, const Work& work, double slowdown) const {
    if (!(slowdown >= 1)) throw std::invalid_argument(fmt::format("a slowdown of {}", slowdown));
    const DeviceProfile& on = device(worker);
    const double calculating = work.flops / reached(on.matmul_flops, on.matmul_efficiency);
    const double moving = work.bytes / reached(on.memory_bandwidth, on.memory_efficiency);
    return (std::max(calculating, moving) + work.kernels * on.launch_s.value) * slowdown;
}

double CostModel::all_to_all(std::span<const double> bytes, int ranks) const {
    check_ranks(ranks);
    const auto n = static_cast<std::size_t>(ranks);
    if (bytes.size() != n * n)
        throw std::invalid_argument(fmt::format(
            "an all-to-all of {} ranks takes {} volumes, not {}", ranks, n * n, bytes.size()));
    double busiest = 0;
    for (std::size_t rank = 0; rank < n; ++rank) {
        double sent = 0, received = 0;
        for (std::size_t other = 0; other < n; ++other) {
            if (other == rank) continue;
            sent += bytes[rank * n + other];
            received += bytes[other * n + rank];
        }
        busiest = std::max({busiest, sent, received});
    }
    return busiest / reached(cluster_.link_bandwidth, cluster_.link_efficiency) +
           (ranks - 1) * cluster_.link_latency_s.value;
}

double CostModel::all_reduce(double bytes, int ranks) const {
    check_ranks(ranks);
    return ring_share(ranks) * bytes / reached(cluster_.link_bandwidth, cluster_.link_efficiency) +
           ring_messages(ranks) * cluster_.link_latency_s.value;
}

double CostModel::grouped_all_reduce(std::span<const double> bytes,
                                     std::span<const std::vector<int>> groups, int ranks) const {
    check_ranks(ranks);
    if (bytes.size() != groups.size())
        throw std::invalid_argument(
            fmt::format("{} volumes for {} groups of ranks", bytes.size(), groups.size()));
    struct Port {
        double bytes = 0;
        int messages = 0;
    };
    std::vector<Port> ports(static_cast<std::size_t>(ranks));
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const int members = static_cast<int>(groups[g].size());
        for (const int rank : groups[g]) {
            if (rank < 0 || rank >= ranks)
                throw std::invalid_argument(
                    fmt::format("rank {} in a group of {} ranks", rank, ranks));
            Port& port = ports[static_cast<std::size_t>(rank)];
            port.bytes += ring_share(members) * bytes[g];
            port.messages = std::max(port.messages, ring_messages(members));
        }
    }
    double busiest = 0;
    for (const Port& port : ports)
        busiest = std::max(busiest,
                           port.bytes / reached(cluster_.link_bandwidth, cluster_.link_efficiency) +
                               port.messages * cluster_.link_latency_s.value);
    return busiest;
}

double CostModel::all_gather(double bytes, int ranks) const {
    check_ranks(ranks);
    return (ranks - 1) * (bytes / reached(cluster_.link_bandwidth, cluster_.link_efficiency) +
                          cluster_.link_latency_s.value);
}

double CostModel::storage(double bytes) const { return bytes / cluster_.storage_bandwidth.value; }

nlohmann::json CostModel::to_json() const {
    nlohmann::json devices = nlohmann::json::object();
    for (std::size_t i = 0; i < devices_.size(); ++i)
        devices[cluster_.devices[i]] = assay::to_json(devices_[i]);
    return {{"cluster", assay::to_json(cluster_)}, {"devices", std::move(devices)}};
}

}  // namespace assay
