// assay campaign dr_post_training.
#include "impls/dr_post_training/campaign/virtual_schedule.hpp"
#include "impls/dr_post_training/commands/commands.hpp"

namespace assay::dr_post_training {

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against the guard of a training: its worker is killed, hangs, "
        "has a damaged tensor or numbers that are not finite, its checkpoints are torn or find the "
        "disk full; checks in each that the training ends as without faults, bit for bit.";
    campaign.modes = {drive::in_virtual_time(
        [](std::uint64_t seed, const std::string&) { return run_virtual_schedule(seed); })};
    campaign.modes.front().seeds = {1, 500};
    campaign.told = {{"steps", "steps stored"},         {"redone", "redone"},
                     {"repeated", "repeated"},          {"restarted", "workers replaced"},
                     {"restored", "states restored"},   {"unwritten", "checkpoints not written"},
                     {"unreadable", "unreadable ones"}, {"failed", "given up as not finite"}};
    return campaign;
}

}  // namespace assay::dr_post_training
