#include "suite/cli/upkeep/gpu_experiments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "suite/runner/plan.hpp"

namespace assay::cli {
namespace {

/// Why it would not run; nullopt: it would.
std::optional<std::string> reason_against(const Experiment& experiment, const ProfilePlan& plan) {
    if (!experiment.unsupported) return std::nullopt;
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.profile = Profile::gpu;
    if (!plan.provenances.empty()) spec.provenance = plan.provenances.front();
    try {
        const std::vector<Case> cases = runner::cases(experiment, plan.of(spec.provenance),
                                                      std::map<std::string, std::vector<Value>>{});
        if (!cases.empty()) spec.axes = cases.front();
        for (const std::string& variant :
             plan.variants.empty() ? experiment.variants : plan.variants) {
            spec.variant = variant;
            if (auto reason = experiment.unsupported(spec)) return reason;
        }
    } catch (const std::exception& error) {
        return error.what();
    }
    return std::nullopt;
}

}  // namespace

std::optional<measure::Finding> gpu_experiments(const Registry& registry, bool any_gpu) {
    std::vector<std::string> of_systems, without;
    std::size_t would_run = 0;
    std::map<std::string, std::vector<std::string>> against;  // experiments by reason
    std::size_t all = 0;
    for (const System& system : registry.systems()) {
        const std::size_t before = all, ran_before = would_run;
        for (const Experiment& experiment : system.experiments) {
            const ProfilePlan* const plan = experiment.plan(Profile::gpu);
            if (!plan) continue;
            ++all;
            const auto reason = any_gpu ? reason_against(experiment, *plan) : std::nullopt;
            if (reason)
                against[*reason].push_back(experiment.id);
            else
                ++would_run;
        }
        if (would_run > ran_before)
            of_systems.push_back(fmt::format("{} {}", system.id, would_run - ran_before));
        // What claims nothing is the suite's own.
        if (all == before && !system.claims.empty()) without.push_back(system.id);
    }
    if (all == 0) return std::nullopt;
    std::string says = any_gpu ? fmt::format("{} of {} would run", would_run, all)
                               : fmt::format("{} have the profile gpu", all);
    if (!of_systems.empty()) says += fmt::format(" ({})", fmt::join(of_systems, ", "));
    for (const auto& [reason, ids] : against)
        says += fmt::format("; not {}: {}", fmt::join(ids, ", "), reason);
    if (!without.empty())
        says += fmt::format("; none of profile gpu yet: {}", fmt::join(without, ", "));
    says +=
        "; scripts/gpu-check runs those that fit its slices, and the kernels' tests and "
        "benchmarks; the others: assay reproduce SYSTEM --profile gpu";
    return measure::Finding{against.empty() ? measure::Level::ok : measure::Level::warn,
                            "gpu experiments", says};
}

}  // namespace assay::cli
