#include "suite/drive/fault_effects.hpp"

#include <array>
#include <stdexcept>
#include <utility>

namespace assay::drive {
namespace {

using enum FaultPlace;

constexpr std::array effects{
    std::pair(FaultKind::kill, FaultEffect{driver, step_point, false}),
    std::pair(FaultKind::hang, FaultEffect{driver, step_point, false}),
    std::pair(FaultKind::stop, FaultEffect{driver, step_point, true}),
    std::pair(FaultKind::join, FaultEffect{driver, step_point, true}),
    std::pair(FaultKind::slow, FaultEffect{driver, start_point, false}),
    std::pair(FaultKind::link, FaultEffect{links, start_point, false}),
    std::pair(FaultKind::corrupt, FaultEffect{inside, start_point, false}),
    std::pair(FaultKind::nan, FaultEffect{inside, start_point, false}),
    std::pair(FaultKind::torn, FaultEffect{inside, start_point, false}),
    std::pair(FaultKind::disk_full, FaultEffect{inside, start_point, false}),
    std::pair(FaultKind::wipe, FaultEffect{inside, start_point, false}),
    std::pair(FaultKind::gpu_error, FaultEffect{inside, start_point, false})};

}  // namespace

FaultEffect effect_of(const Fault& fault) {
    // A bit of the next message that it sends to a peer.
    if (fault.kind == FaultKind::corrupt && fault.target == "message")
        return {links, start_point, false};
    for (const auto& [kind, effect] : effects)
        if (kind == fault.kind) return effect;
    throw std::logic_error("a kind of fault has no effect");
}

bool struck_by_worker(const Fault& fault) {
    return effect_of(fault).place == FaultPlace::inside || fault.kind == FaultKind::corrupt;
}

std::string_view phase_of(const Fault& fault) {
    return fault.phase.empty() ? std::string_view(effect_of(fault).point)
                               : std::string_view(fault.phase);
}

}  // namespace assay::drive
