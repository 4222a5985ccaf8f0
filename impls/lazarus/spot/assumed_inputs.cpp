#include "impls/lazarus/spot/assumed_inputs.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr std::array<AssumedInput, 5> inputs{{
    {"detect_s",
     "seconds from a death to the survivors knowing; the paper's 10 to 20 s until NCCL kernels "
     "time out",
     10, 20},
    {"regroup_s", "seconds to build new groups; the paper's 5 to 15 s", 5, 15},
    {"matmul_efficiency",
     "share of the devices' peak that matrix products reach; usual for training: 0.35 to 0.5", 0.35,
     0.5},
    {"link_efficiency",
     "share of the links' rate that collectives reach; usual on Ethernet: 0.6 to 0.8", 0.6, 0.8},
    {"overlap",
     "share of the gradient sums that the backward pass hides, of what it could: 0 to 1; not "
     "published",
     0, 1},
}};

// Where `values` has the number, it takes the profile's place.
void replace(Sourced& number, const char* name, const AssumedValues& values) {
    const auto chosen = values.find(name);
    if (chosen == values.end()) return;
    number = {.value = chosen->second,
              .kind = "assumed",
              .source = fmt::format("{} of the experiment", name)};
}

void require_sensible(const std::string& name, double value) {
    const bool share = name != "detect_s" && name != "regroup_s";
    const bool may_be_zero = name == "overlap";
    if (share && !(value <= 1 && (may_be_zero ? value >= 0 : value > 0)))
        throw UserError(fmt::format("axis {}: {} is no share {}", name, value,
                                    may_be_zero ? "from 0 to 1" : "above 0 and at most 1"));
    if (!share && !(value > 0 && value <= 1e6))
        throw UserError(fmt::format("axis {}: {}; seconds, above 0", name, value));
}

}  // namespace

std::span<const AssumedInput> assumed_inputs() { return inputs; }

std::vector<AssumedValues> corners_of_ranges(const AssumedValues& fixed) {
    std::vector<AssumedValues> corners{fixed};
    for (const AssumedInput& input : inputs) {
        if (fixed.contains(input.name)) continue;
        std::vector<AssumedValues> longer;
        for (const AssumedValues& corner : corners)
            for (const double end : {input.low, input.high}) {
                longer.push_back(corner);
                longer.back()[input.name] = end;
            }
        corners = std::move(longer);
    }
    return corners;
}

CostModel costs_with(const std::string& id, const AssumedValues& values,
                     std::shared_ptr<const Network> network) {
    for (const auto& [name, value] : values) require_sensible(name, value);
    ClusterProfile cluster = cluster_profile(id);
    replace(cluster.detect_s, "detect_s", values);
    replace(cluster.regroup_s, "regroup_s", values);
    replace(cluster.link_efficiency, "link_efficiency", values);
    std::vector<DeviceProfile> devices;
    for (const std::string& name : cluster.devices) {
        devices.push_back(device_profile(name));
        replace(devices.back().matmul_efficiency, "matmul_efficiency", values);
    }
    return CostModel(std::move(cluster), std::move(devices), std::move(network));
}

Modelling modelling_with(Modelling modelling, const AssumedValues& values) {
    if (const auto overlap = values.find("overlap"); overlap != values.end())
        modelling.overlap = overlap->second;
    return modelling;
}

nlohmann::json ranges_to_json(const AssumedValues& fixed) {
    nlohmann::json ranges = nlohmann::json::object();
    for (const AssumedInput& input : inputs)
        if (!fixed.contains(input.name)) ranges[input.name] = {input.low, input.high};
    return ranges;
}

}  // namespace assay::lazarus
