#include "suite/drive/campaign/run_campaign.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <stdexcept>

#include "suite/base/error.hpp"
#include "suite/drive/campaign/run_seeds.hpp"

namespace assay::drive {
namespace {

std::vector<const CampaignMode*> modes_of(const Campaign& campaign, const std::string& asked) {
    std::vector<const CampaignMode*> modes;
    for (const CampaignMode& mode : campaign.modes)
        if (asked == all_of_them || asked == mode.name) modes.push_back(&mode);
    if (modes.empty()) throw std::invalid_argument("a campaign has no mode " + asked);
    return modes;
}

std::vector<std::string> variants_of(const Campaign& campaign, const CampaignMode& mode,
                                     const std::string& asked) {
    if (asked != all_of_them) return {asked};
    std::vector<std::string> variants;
    for (const std::string& variant : campaign.variants)
        if (!mode.cannot.count(variant)) variants.push_back(variant);
    return variants;
}

std::string replay_command(const std::string& system, const CampaignPart& part,
                           std::uint64_t seed) {
    return fmt::format("assay campaign {} --seeds {} --mode {}{}", system, seed, part.mode,
                       part.variant == drawn_variant ? "" : " --variant " + part.variant);
}

void count(CampaignResult& result, const std::string& system, std::uint64_t seed,
           const SeedOutcome& outcome) {
    CampaignPart& part = result.parts.back();
    ++part.schedules;
    for (const auto& [name, times] : outcome.counts) result.counts[name] += times;
    if (outcome.ok) return;
    ++part.failed;
    result.failed.push_back({.seed = seed,
                             .mode = part.mode,
                             .variant = part.variant,
                             .why = outcome.why,
                             .says = outcome.says,
                             .replay = replay_command(system, part, seed)});
}

/// The newest part of the result.
SeedsEnd run_part(const CampaignMode& mode, const CampaignRequest& request,
                  cluster::SignalWatch& signals, const CampaignListener& listener,
                  CampaignResult& result) {
    const CampaignPart& part = result.parts.back();
    SeedListener hears;
    hears.on_outcome = [&](std::uint64_t seed, const SeedOutcome& outcome) {
        count(result, request.system, seed, outcome);
        if (mode.seeds_per_process == 1) listener.on_seed(part, seed, outcome);
    };
    hears.on_progress = [&](std::uint64_t done) { listener.on_progress(part, done); };
    return run_seeds(mode,
                     {.seeds = part.seeds,
                      .variant = part.variant == drawn_variant ? "" : part.variant,
                      .jobs = request.jobs,
                      .fail_fast = request.fail_fast},
                     signals, hears);
}

}  // namespace

std::uint64_t CampaignResult::schedules() const {
    std::uint64_t sum = 0;
    for (const CampaignPart& part : parts) sum += part.schedules;
    return sum;
}

CampaignResult run_campaign(const Campaign& campaign, const CampaignRequest& request,
                            const CampaignListener& listener) {
    const auto modes = modes_of(campaign, request.mode);
    for (const CampaignMode* mode : modes) {
        if (const auto lacks = mode->cannot.find(request.variant); lacks != mode->cannot.end())
            throw NotSupportedHere(lacks->second);
        if (mode->prepare) mode->prepare();
    }
    cluster::SignalWatch signals{SIGINT, SIGTERM};
    CampaignResult result;
    for (const CampaignMode* mode : modes)
        for (const std::string& variant : variants_of(campaign, *mode, request.variant)) {
            result.parts.push_back({.mode = mode->name,
                                    .variant = variant,
                                    .seeds = request.seeds.value_or(mode->seeds)});
            const SeedsEnd end = run_part(*mode, request, signals, listener, result);
            result.interrupted = end == SeedsEnd::interrupted;
            if (end != SeedsEnd::all_done) return result;
        }
    return result;
}

}  // namespace assay::drive
