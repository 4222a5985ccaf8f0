// Operation × device profile → seconds. One component for the pacer and for simulation. Roofline
// for computing, latency + volume over bandwidth (Hockney) for communication; closed forms, no
// state.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "suite/scenario/device_profile.hpp"

namespace assay {

/// What a device has to do for one operation.
struct Work {
    double flops = 0;
    double bytes = 0;    ///< to and from memory
    double kernels = 1;  ///< launches
};

class CostModel {
  public:
    /// Looks up the devices of the cluster; UserError where one is not there.
    explicit CostModel(ClusterProfile cluster);

    const ClusterProfile& cluster() const { return cluster_; }
    const DeviceProfile& device(int worker) const;  ///< worker: 0, 1, … (wraps around)

    // All in seconds. std::invalid_argument: numbers of ranks or volumes that do not go together.

    /// max(flops / reached FLOP/s, bytes / reached bytes/s) + launches, times `slowdown` (≥ 1).
    double compute(int worker, const Work& work, double slowdown = 1) const;

    /// Bytes [from][to], row-major, ranks × ranks; the diagonal is free. The busiest port decides:
    /// max over ranks of max(sent, received) / bandwidth, plus (ranks - 1) latencies.
    double all_to_all(std::span<const double> bytes, int ranks) const;
    /// Ring: 2 (n-1)/n · bytes / bandwidth + 2 (n-1) latencies; 0 for one rank.
    double all_reduce(double bytes, int ranks) const;
    /// All-reduces of different groups at once: per rank the sum of its groups' ring volumes (one
    /// port) and the latencies of its largest group (rings overlap); the busiest rank decides.
    /// bytes[g] over the ranks groups[g].
    double grouped_all_reduce(std::span<const double> bytes,
                              std::span<const std::vector<int>> groups, int ranks) const;
    /// `bytes` from everyone to everyone: (n-1) · bytes / bandwidth + (n-1) latencies.
    double all_gather(double bytes, int ranks) const;
    /// All writers or readers share the store: `bytes` of all of them together.
    double storage(double bytes) const;

    /// Cluster and devices as JSON, for the record ("calibration" of an experiment).
    nlohmann::json to_json() const;

  private:
    ClusterProfile cluster_;
    std::vector<DeviceProfile> devices_;  ///< of cluster_.devices
};

}  // namespace assay
