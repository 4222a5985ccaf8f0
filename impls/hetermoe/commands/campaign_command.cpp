// assay campaign hetermoe.
#include "impls/hetermoe/campaign/live_schedule.hpp"
#include "impls/hetermoe/campaign/virtual_schedule.hpp"
#include "impls/hetermoe/commands/commands.hpp"
#include "suite/runner/sample/sample_folders.hpp"

namespace assay::hetermoe {
namespace {

void prepare_live() {
    run_live_schedule.open();                   // once, not by every seed
    runner::ScratchFolder::remove_abandoned();  // by seeds that were killed
}

drive::SeedOutcome run_live(std::uint64_t seed, const std::string&) {
    const runner::ScratchFolder scratch;
    return run_live_schedule(seed, tensors::training_text(), scratch.path());
}

}  // namespace

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against the controller of HeterMoE's training: workers of both "
        "kinds are killed, frozen, asked to leave, join, and come to another pace; checks every "
        "rule of the protocol in each.";
    campaign.modes = {drive::in_virtual_time([](std::uint64_t seed, const std::string&) {
                          return run_virtual_schedule(seed);
                      }),
                      drive::with_processes(prepare_live, run_live)};
    campaign.told = {{"commits", "steps committed"}, {"discarded", "discarded"},
                     {"moves", "states moved"},      {"fallbacks", "fallbacks to a checkpoint"},
                     {"retries", "retries"},         {"evictions", "evictions"}};
    return campaign;
}

}  // namespace assay::hetermoe
