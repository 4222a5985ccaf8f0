#include "impls/plato/campaign/campaign.hpp"

#include "impls/plato/campaign/drawn.hpp"
#include "impls/plato/campaign/live_schedule.hpp"
#include "impls/plato/campaign/virtual_schedule.hpp"

namespace assay::plato {

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against Plato's controller and the engines that it drives: "
        "they are killed, hang, become slow, lose their caches, and what they report is damaged; "
        "checks after each that no node started early, every part was answered once, with the text "
        "that it has without faults, and that no block is left.";
    campaign.modes = {
        {.name = "virtual",
         .says = "in virtual time",
         .seeds = {1, 500},
         .prepare = {},
         .run = [](std::uint64_t seed,
                   const std::string& variant) { return run_virtual_schedule(seed, variant); },
         .longest_s = 60,
         .seeds_per_process = 100,
         .jobs = 0},
        {.name = "live",
         .says = "with engines that are processes on this machine",
         .seeds = {1, 20},
         .prepare = {},
         .run = [](std::uint64_t seed,
                   const std::string& variant) { return run_live_schedule(seed, variant); },
         .longest_s = 240,  // it takes some seconds
         .seeds_per_process = 1,
         .jobs = 1}};
    for (const Mode mode : values_of<Mode>) campaign.variants.emplace_back(to_string(mode));
    campaign.told = {{"questions", "questions"},
                     {"parts", "parts of answers"},
                     {"tokens", "tokens"},
                     {"resumed", "parts gone on with elsewhere"},
                     {"replayed", "nodes computed again to be linked"},
                     {"refused", "damaged reports or states refused"},
                     {"given_up", "engines given up"}};
    return campaign;
}

}  // namespace assay::plato
