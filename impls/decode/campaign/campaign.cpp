#include "impls/decode/campaign/campaign.hpp"

#include "impls/decode/campaign/schedule.hpp"

namespace assay::decode {

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against inference engines: they are killed, hang and become "
        "slow, requests move and their states are damaged, logits are NaN, new weights are "
        "published; checks after each that every request was answered once, with the tokens that "
        "it gets alone.";
    campaign.modes = {
        {.name = "virtual",
         .says = "in virtual time",
         .seeds = {1, 500},
         .prepare = {},
         .run = [](std::uint64_t seed, const std::string&) { return run_virtual_schedule(seed); },
         .longest_s = 60,
         .seeds_per_process = 100,
         .jobs = 0},
        {.name = "live",
         .says = "with engines that are processes on this machine",
         .seeds = {1, 20},
         .prepare = {},
         .run = [](std::uint64_t seed, const std::string&) { return run_live_schedule(seed); },
         .longest_s = 120,  // it takes some seconds
         .seeds_per_process = 1,
         .jobs = 1}};
    campaign.told = {{"requests", "requests"},
                     {"tokens", "tokens"},
                     {"preemptions", "preemptions"},
                     {"moved", "moved"},
                     {"moved_with_cache", "moved with their cache"},
                     {"refused", "damaged states refused"},
                     {"recomputed", "caches of other weights refused"},
                     {"no_blocks", "found no blocks"},
                     {"given_up", "engines given up"},
                     {"failed", "requests failed"}};
    return campaign;
}

}  // namespace assay::decode
