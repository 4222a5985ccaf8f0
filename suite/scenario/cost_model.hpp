// Operation × device profile → seconds. One component for the pacer and for simulation. Roofline
// for computing, a Network for communication (network.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "suite/scenario/device_profile.hpp"
#include "suite/scenario/network/network.hpp"

namespace assay {

/// What a device has to do for one operation.
struct Work {
    double flops = 0;
    double bytes = 0;    ///< to and from memory
    double kernels = 1;  ///< launches
};

/// Work with a name, by which a device profile can say what it reaches of it.
struct Operation {
    std::string_view name;  ///< of a program's constants: lives as long as it does
    Work work;
};

/// Seconds of the work at the device's peaks, launches apart: max(flops / peak, bytes / peak).
double roofline_s(const DeviceProfile& device, const Work& work);

class CostModel {
  public:
    /// Looks up the devices of the cluster; UserError where one is not there. Without a network,
    /// communication is priced in closed form.
    explicit CostModel(ClusterProfile cluster, std::shared_ptr<const Network> network = nullptr);
    /// With devices that are in no file: devices[i] is what cluster.devices[i] names.
    /// std::invalid_argument where there are more or fewer.
    CostModel(ClusterProfile cluster, std::vector<DeviceProfile> devices,
              std::shared_ptr<const Network> network = nullptr);

    const ClusterProfile& cluster() const { return cluster_; }
    const DeviceProfile& device(int worker) const;  ///< worker: 0, 1, … (wraps around)

    // All in seconds. std::invalid_argument: numbers of ranks or volumes that do not go together.

    /// max(flops / reached FLOP/s, bytes / reached bytes/s) + launches, times `slowdown` (≥ 1).
    double compute(int worker, const Work& work, double slowdown = 1) const;
    /// The same; but where the device's profile knows the operation, what it says of that:
    /// max(flops / peak FLOP/s, bytes / peak bytes/s) / efficiency + its own launches.
    double compute(int worker, const Operation& operation, double slowdown = 1) const;

    // Communication, as the network prices it: see network.hpp.
    double all_to_all(std::span<const double> bytes, int ranks) const {
        return network_->all_to_all(bytes, ranks);
    }
    double all_to_all(const Exchange& exchange) const { return network_->all_to_all(exchange); }
    double all_reduce(double bytes, int ranks) const { return network_->all_reduce(bytes, ranks); }
    double grouped_all_reduce(std::span<const double> bytes,
                              std::span<const std::vector<int>> groups, int ranks) const {
        return network_->grouped_all_reduce(bytes, groups, ranks);
    }
    double all_gather(double bytes, int ranks) const { return network_->all_gather(bytes, ranks); }
    const Network& network() const { return *network_; }
    std::shared_ptr<const Network> shared_network() const { return network_; }

    /// All writers or readers share the store: `bytes` of all of them together.
    double storage(double bytes) const;

    /// Cluster, devices and, where not in closed form, the network as JSON, for the record
    /// ("calibration" of an experiment).
    nlohmann::json to_json() const;

  private:
    ClusterProfile cluster_;
    std::shared_ptr<const Network> network_;
    std::vector<DeviceProfile> devices_;  ///< of cluster_.devices
};

}  // namespace assay
