#include "suite/scenario/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay {
namespace {

/// Of cluster.devices, one by one; a device of which there are sixteen is read once.
std::vector<DeviceProfile> devices_of(const ClusterProfile& cluster) {
    std::vector<DeviceProfile> devices;
    for (std::size_t i = 0; i < cluster.devices.size(); ++i) {
        const auto first =
            std::find(cluster.devices.begin(), cluster.devices.end(), cluster.devices[i]) -
            cluster.devices.begin();
        devices.push_back(first < static_cast<std::ptrdiff_t>(i)
                              ? devices[static_cast<std::size_t>(first)]
                              : device_profile(cluster.devices[i]));
    }
    return devices;
}

void check_slowdown(double slowdown) {
    if (!(slowdown >= 1)) throw std::invalid_argument(fmt::format("a slowdown of {}", slowdown));
}

}  // namespace

double roofline_s(const DeviceProfile& device, const Work& work) {
    return std::max(work.flops / device.matmul_flops.value,
                    work.bytes / device.memory_bandwidth.value);
}

CostModel::CostModel(ClusterProfile cluster, std::shared_ptr<const Network> network)
    : CostModel(cluster, devices_of(cluster), std::move(network)) {}

CostModel::CostModel(ClusterProfile cluster, std::vector<DeviceProfile> devices,
                     std::shared_ptr<const Network> network)
    : cluster_(std::move(cluster)), network_(std::move(network)), devices_(std::move(devices)) {
    if (!network_) network_ = std::make_shared<ClosedForm>(Topology(cluster_));
    if (cluster_.devices.empty())
        throw UserError(fmt::format("cluster profile '{}' names no devices", cluster_.id));
    if (devices_.size() != cluster_.devices.size())
        throw std::invalid_argument(
            fmt::format("{} profiles for {} devices", devices_.size(), cluster_.devices.size()));
}

const DeviceProfile& CostModel::device(int worker) const {
    if (worker < 0) throw std::invalid_argument(fmt::format("worker {}", worker));
    return devices_[static_cast<std::size_t>(worker) % devices_.size()];
}

double CostModel::compute(int worker, const Work& work, double slowdown) const {
    check_slowdown(slowdown);
    const DeviceProfile& on = device(worker);
    const double calculating = work.flops / reached(on.matmul_flops, on.matmul_efficiency);
    const double moving = work.bytes / reached(on.memory_bandwidth, on.memory_efficiency);
    return (std::max(calculating, moving) + work.kernels * on.launch_s.value) * slowdown;
}

double CostModel::compute(int worker, const Operation& operation, double slowdown) const {
    const DeviceProfile& on = device(worker);
    const auto known = on.operations.find(operation.name);
    if (known == on.operations.end()) return compute(worker, operation.work, slowdown);
    check_slowdown(slowdown);
    const auto& [efficiency, launch_s] = known->second;
    return (roofline_s(on, operation.work) / efficiency.value +
            operation.work.kernels * launch_s.value) *
           slowdown;
}

double CostModel::storage(double bytes) const { return bytes / cluster_.storage_bandwidth.value; }

nlohmann::json CostModel::to_json() const {
    nlohmann::json devices = nlohmann::json::object();
    for (std::size_t i = 0; i < devices_.size(); ++i)
        devices[cluster_.devices[i]] = assay::to_json(devices_[i]);
    nlohmann::json json{{"cluster", assay::to_json(cluster_)}, {"devices", std::move(devices)}};
    // Not where it is what the cluster alone says: results made before networks could be chosen
    // keep their calibration.
    if (dynamic_cast<const ClosedForm*>(network_.get()) == nullptr)
        json["network"] = network_->says();
    return json;
}

}  // namespace assay
