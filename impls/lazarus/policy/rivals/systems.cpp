#include "impls/lazarus/policy/rivals/systems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr CompetingSystem systems[]{
    {.name = "lazarus",
     .says = "replicas by load (Eq. 1), maximum rank overlap, states from peers",
     .source = "arXiv 2407.04656v2"},
    {.name = "spread",
     .says = "Lazarus with replicas spread round-robin",
     .source = "arXiv 2407.04656v2, section 6.3",
     .placement = PlacementPolicy::spread},
    {.name = "compact",
     .says = "Lazarus with replicas packed on few nodes",
     .source = "arXiv 2407.04656v2, section 6.3",
     .placement = PlacementPolicy::compact},
    {.name = "ds_ft",
     .says = "DeepSpeed-MoE with Lazarus' recovery from peers",
     .source = "arXiv 2407.04656v2, section 6.1",
     .layout = Layout::groups},
    {.name = "ds",
     .says = "DeepSpeed-MoE: fixed groups, padded exchange, restart from checkpoints",
     .source = "arXiv 2201.05596",
     .layout = Layout::groups,
     .recovery = Recovery::restart},
    {.name = "eplb",
     .says = "Lazarus with DeepSeek's load balancer in place of Eq. 1 and overlap",
     .source = "deepseek-ai/EPLB",
     .layout = Layout::eplb},
    {.name = "lazarus_joint",
     .says = "Lazarus with one mapping of plan nodes for all layers",
     .source = "ours",
     .layout = Layout::flexible_joint},
};

}  // namespace

std::span<const CompetingSystem> competing_systems() { return systems; }

std::vector<std::string> names_of_systems() {
    std::vector<std::string> names;
    for (const CompetingSystem& system : systems) names.emplace_back(system.name);
    return names;
}

const CompetingSystem& competing_system(std::string_view name) {
    const auto found = std::ranges::find(systems, name, &CompetingSystem::name);
    if (found == std::ranges::end(systems)) {
        throw UserError(fmt::format("no system is called '{}'; known are {}", name,
                                    fmt::join(names_of_systems(), ", ")));
    }
    return *found;
}

std::string systems_in_words() {
    std::string words;
    for (const CompetingSystem& system : systems) {
        words += fmt::format("{}{} ({})", words.empty() ? "" : "; ", system.name, system.says);
    }
    return words;
}

void set_system(ControllerConfig& config, const CompetingSystem& system) {
    config.layout = system.layout;
    config.recovery = system.recovery;
    if (system.placement) config.placement = *system.placement;
}

}  // namespace assay::lazarus
