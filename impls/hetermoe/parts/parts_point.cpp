#include "impls/hetermoe/parts/parts_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "suite/base/error.hpp"

namespace assay::hetermoe {
namespace {

constexpr int most_layers = 4, parts_unreduced = 4;

int unit_of(const DeviceProfile& device) {
    struct Unit {
        std::string_view device;
        int multiprocessors;
    };
    constexpr std::array<Unit, 5> units{
        {{"a100", 10}, {"a40", 5}, {"v100", 4}, {"l40s", 7}, {"t4", 1}}};
    for (const Unit& unit : units)
        if (device.id == unit.device) return unit.multiprocessors;
    throw UserError(fmt::format("no part of a GPU stands for the device {}", device.id));
}

bool fused(const DeviceProfile& device) {
    return device.attention && device.attention->kernels == AttentionKernels::fused;
}

}  // namespace

PartsPoint parts_for(const Point& point) {
    const int m = point.new_gpus.gpus, n = point.old_gpus.gpus;
    const int divisor = m + n > parts_unreduced ? std::gcd(m, n) : 1;
    PartsPoint parts{.model = point.model,
                     .parts = {m / divisor, n / divisor},
                     .groups = divisor,
                     .unit = {unit_of(point.new_gpus.device), unit_of(point.old_gpus.device)},
                     .new_fused = fused(point.new_gpus.device),
                     .old_fused = fused(point.old_gpus.device),
                     .tokens = static_cast<int>(point.tokens),
                     .batch = point.batch};
    if (parts.tokens < 1) throw UserError("a sequence has one token at least");
    parts.model.layers = std::min(parts.model.layers, most_layers);
    return parts;
}

bool has_parts_version(Arm arm) {
    constexpr std::array arms{Arm::hetermoe, Arm::zebra, Arm::ep, Arm::dist_ep, Arm::ep_ideal};
    return std::find(arms.begin(), arms.end(), arm) != arms.end();
}

}  // namespace assay::hetermoe
