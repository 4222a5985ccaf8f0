// The competing systems, by name: the one list that experiments, campaigns and help texts take
// theirs from. To add one: an entry here, and a strategy (controller/strategy.hpp) where none of
// those that are there is its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus {

struct CompetingSystem {
    std::string_view name;    ///< "ds_ft": of a variant, of an axis
    std::string_view says;    ///< what it is
    std::string_view source;  ///< where it is described
    Layout layout = Layout::flexible;
    Recovery recovery = Recovery::peers;
    /// Where the layout asks for one; absent: the experiment says which (mro in the paper).
    std::optional<PlacementPolicy> placement = {};

    bool in_groups() const { return layout == Layout::groups; }
};

/// Lazarus first, then what is held against it.
std::span<const CompetingSystem> competing_systems();
/// Throws UserError with the names of all.
const CompetingSystem& competing_system(std::string_view name);
std::vector<std::string> names_of_systems();
/// For help: "lazarus (…), ds (…), …"
std::string systems_in_words();

/// Sets layout, recovery and, where the system has its own, placement.
void set_system(ControllerConfig& config, const CompetingSystem& system);

}  // namespace assay::lazarus
