// assay campaign foundry.
#include "impls/foundry/campaign/virtual_schedule.hpp"
#include "impls/foundry/commands/commands.hpp"
#include "impls/foundry/experiments/live/live_experiments.hpp"

namespace assay::foundry {

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against a loader of saved graphs: savers and servers are "
        "killed, hang, are slow or lose their GPU, archives are damaged, torn, not written, or of "
        "another GPU, the driver refuses what it likes; checks in each that every request is "
        "served once, with the "
        "tokens of a capture.";
    campaign.modes = {drive::in_virtual_time(
        [](std::uint64_t seed, const std::string&) { return run_virtual_schedule(seed); })};
    campaign.modes.front().seeds = {1, 500};
    if (const auto run = live_schedule()) {
        campaign.modes.push_back(drive::with_processes({}, run));
        campaign.modes.back().longest_s = 120;
    }
    campaign.told = {{"requests", "requests"}, {"restarts", "workers replaced"},
                     {"refused", "refused"},   {"update", "updates"},
                     {"own", "instantiated"},  {"build", "built"},
                     {"capture", "captured"},  {"plain", "without a graph"}};
    return campaign;
}

}  // namespace assay::foundry
