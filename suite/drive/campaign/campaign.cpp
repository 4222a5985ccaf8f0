#include "suite/drive/campaign/campaign.hpp"

#include <utility>

namespace assay::drive {

CampaignMode in_virtual_time(decltype(CampaignMode::run) run) {
    return {.name = "virtual",
            .says = "in virtual time",
            .seeds = {1, 300},
            .prepare = {},
            .run = std::move(run),
            .longest_s = 60,
            .seeds_per_process = 100,
            .jobs = 0};
}

CampaignMode with_processes(decltype(CampaignMode::prepare) prepare,
                            decltype(CampaignMode::run) run) {
    return {.name = "live",
            .says = "with processes on this machine, which train",
            .seeds = {1, 20},
            .prepare = std::move(prepare),
            .run = std::move(run),
            .longest_s = 180,  // it takes some seconds
            .seeds_per_process = 1,
            .jobs = 1};
}

}  // namespace assay::drive
