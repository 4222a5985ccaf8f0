// assay campaign lazarus.
#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/spot/live_schedule.hpp"
#include "suite/runner/sample/sample_folders.hpp"

namespace assay::lazarus {
namespace {

drive::SeedOutcome run_in_virtual_time(std::uint64_t seed, const std::string& system) {
    auto outcome = campaign::run_virtual_schedule(seed, nullptr, system);
    return {.ok = outcome.ok,
            .why = std::move(outcome.why),
            .counts = std::move(outcome.counts),
            .says = std::move(outcome.faults)};
}

void prepare_live() {
    run_live_schedule.open();                   // once, not by every seed
    runner::ScratchFolder::remove_abandoned();  // by seeds that were killed
}

drive::SeedOutcome run_live(std::uint64_t seed, const std::string& system) {
    const runner::ScratchFolder scratch;
    return run_live_schedule(seed, system, tensors::training_text(), scratch.path());
}

}  // namespace

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against the Lazarus controller and its rivals; checks every "
        "rule of the protocol in each. Variants: " +
        systems_in_words();
    campaign.modes = {drive::in_virtual_time(run_in_virtual_time),
                      drive::with_processes(prepare_live, run_live)};
    campaign.variants = names_of_systems();
    for (const CompetingSystem& system : competing_systems())
        if (auto lacks = tensors_lack(system))
            campaign.modes.back().cannot.emplace(system.name, std::move(*lacks));
    campaign.told = {{"commits", "steps committed"},
                     {"discarded", "discarded"},
                     {"fallbacks", "fallbacks to a checkpoint"},
                     {"retries", "retries"},
                     {"evictions", "evictions"},
                     {"bad_checkpoints", "unreadable checkpoints"},
                     {"waits", "waits for nodes"}};
    return campaign;
}

}  // namespace assay::lazarus
