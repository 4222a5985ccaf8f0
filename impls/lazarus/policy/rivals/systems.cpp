#include "impls/lazarus/policy/rivals/systems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using Kind = DispatchRule::Kind;

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
     .layout = Layout::groups,
     .dispatch = Kind::padded},
    {.name = "ds",
     .says = "DeepSpeed-MoE: fixed groups, padded exchange, restart from checkpoints",
     .source = "arXiv 2201.05596",
     .layout = Layout::groups,
     .recovery = Recovery::restart,
     .dispatch = Kind::padded},
    {.name = "tutel_ft",
     .says = "Tutel with Lazarus' recovery from peers",
     .source = "arXiv 2407.04656v2, section 6.6",
     .layout = Layout::groups,
     .dispatch = Kind::padded,
     .pipeline = 8},
    {.name = "tutel",
     .says = "Tutel: as ds, exchange and experts of a layer in up to eight parts that take turns",
     .source = "arXiv 2206.03382",
     .layout = Layout::groups,
     .recovery = Recovery::restart,
     .dispatch = Kind::padded,
     .pipeline = 8},
    {.name = "eplb",
     .says = "Lazarus with DeepSeek's load balancer in place of Eq. 1 and overlap",
     .source = "deepseek-ai/EPLB",
     .layout = Layout::eplb},
    {.name = "spill",
     .says =
         "fixed groups, un-padded; what overloads a rank goes to the least-loaded of its group, "
         "the expert's weights with it; recovery from peers",
     .source = "arXiv 2601.17111",
     .layout = Layout::groups,
     .dispatch = Kind::spill},
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

std::optional<std::string> tensors_lack(const CompetingSystem& system) {
    if (system.dispatch != Kind::spill) return std::nullopt;
    return fmt::format(
        "{} is priced, not trained with: there is no exchange of expert weights on tensors; use "
        "--mode simulated (of a campaign: virtual)",
        system.name);
}

DispatchRule dispatch_of(const CompetingSystem& system, int group, double rows_per_row) {
    DispatchRule rule{.kind = system.dispatch, .pipeline = system.pipeline};
    if (system.in_groups()) rule.group = group;
    const auto fewest = static_cast<double>(rule.limits.fewest) / rows_per_row;
    rule.limits.fewest = static_cast<Tokens>(std::ceil(fewest));
    return rule;
}

void set_system(ControllerConfig& config, const CompetingSystem& system) {
    config.layout = system.layout;
    config.recovery = system.recovery;
    if (system.placement) config.placement = *system.placement;
}

}  // namespace assay::lazarus
