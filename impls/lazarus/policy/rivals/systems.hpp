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
#include "impls/lazarus/policy/dispatch/dispatcher.hpp"

namespace assay::lazarus {

struct CompetingSystem {
    std::string_view name;    ///< "ds_ft": of a variant, of an axis
    std::string_view says;    ///< what it is
    std::string_view source;  ///< where it is described
    Layout layout = Layout::flexible;
    Recovery recovery = Recovery::peers;
    /// Where the layout asks for one; absent: the experiment says which (mro in the paper).
    std::optional<PlacementPolicy> placement = {};
    DispatchRule::Kind dispatch = DispatchRule::Kind::flexible;
    int pipeline = 1;  ///< DispatchRule's

    bool in_groups() const { return layout == Layout::groups; }
};

/// Lazarus first, then what is held against it.
std::span<const CompetingSystem> competing_systems();
/// Throws UserError with the names of all.
const CompetingSystem& competing_system(std::string_view name);
std::vector<std::string> names_of_systems();
/// For help: "lazarus (…), ds (…), …"
std::string systems_in_words();

/// Why no worker can train by its rule of dispatch, and what to do instead; absent: it can.
std::optional<std::string> tensors_lack(const CompetingSystem& system);

/// `group`: ranks that hold every expert once. `rows_per_row`: of a modelled rank's rows, those
/// that one counted row stands for.
DispatchRule dispatch_of(const CompetingSystem& system, int group, double rows_per_row = 1);

/// Sets layout, recovery and, where the system has its own, placement.
void set_system(ControllerConfig& config, const CompetingSystem& system);

}  // namespace assay::lazarus
