// assay campaign dr_post_training.
#include "impls/dr_post_training/campaign/virtual_schedule.hpp"
#include "impls/dr_post_training/commands/commands.hpp"
#include "impls/dr_post_training/experiments/x_faults.hpp"
#include "suite/runner/sample/sample_folders.hpp"

namespace assay::dr_post_training {
namespace {

void prepare_live() {
    run_live_schedule.open();                   // once, not by every seed
    runner::ScratchFolder::remove_abandoned();  // by seeds that were killed
}

drive::SeedOutcome run_live(std::uint64_t seed, const std::string&) {
    const runner::ScratchFolder scratch;
    return run_live_schedule(seed, scratch.path());
}

}  // namespace

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against the guard of a training: its worker is killed, hangs, "
        "has a damaged tensor or numbers that are not finite, its checkpoints are torn or find the "
        "disk full; checks in each that the training ends as without faults, bit for bit.";
    campaign.modes = {drive::in_virtual_time([](std::uint64_t seed, const std::string&) {
                          return run_virtual_schedule(seed);
                      }),
                      drive::with_processes(prepare_live, run_live)};
    campaign.modes.front().seeds = {1, 500};
    campaign.told = {{"steps", "steps stored"},         {"redone", "redone"},
                     {"repeated", "repeated"},          {"restarted", "workers replaced"},
                     {"restored", "states restored"},   {"unwritten", "checkpoints not written"},
                     {"unreadable", "unreadable ones"}, {"failed", "given up as not finite"}};
    return campaign;
}

}  // namespace assay::dr_post_training
