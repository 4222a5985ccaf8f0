// What differs beside the code between a night and its baseline: the machine, its software, the
// context of rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/gate/night.hpp"

namespace assay::gate {

/// What differs of the machine between two sessions, by their suspects; what one of them does not
/// tell is left out.
std::vector<MachineChange> machine_changes(const nlohmann::json& before,
                                           const nlohmann::json& after);

/// That CPU scaling is on, as the programs say, and was not when the level was accepted, or the
/// other way round. nullopt: neither.
std::optional<std::string> scaling_warning(const compare::Arm& baseline,
                                           const compare::Arm& tonight);

/// A sentence about rows that are not compared since their contexts (hardware, data, build type …)
/// are not the baseline's: in what they differ, and what to do. nullopt: there are none but muted
/// ones. The arms' pointers must be there.
std::optional<std::string> context_warning(const std::vector<NightRow>&,
                                           const std::string& baseline);

}  // namespace assay::gate
