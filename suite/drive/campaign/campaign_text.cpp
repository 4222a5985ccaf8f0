// What a campaign found, for people and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "suite/drive/campaign/run_campaign.hpp"

namespace assay::drive {
namespace {

constexpr std::string_view fault_prefix = "fault.";

std::string schedules_text(std::uint64_t schedules, std::uint64_t failed) {
    return fmt::format("{} schedule{}, {} failed", schedules, schedules == 1 ? "" : "s", failed);
}

std::string faults_text(const std::map<std::string, long>& counts) {
    std::string text;
    for (const auto& [name, times] : counts)
        if (name.starts_with(fault_prefix))
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", times,
                                name.substr(fault_prefix.size()));
    return "faults: " + (text.empty() ? "none" : text) + '\n';
}

std::string sums_text(const Campaign& campaign, const std::map<std::string, long>& counts) {
    std::string text;
    for (const auto& [count, words] : campaign.told) {
        const auto found = counts.find(count);
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                            found == counts.end() ? 0 : found->second, words);
    }
    return text.empty() ? text : text + '\n';
}

}  // namespace

std::string name_of(const CampaignPart& part) {
    return part.variant == drawn_variant ? part.mode : part.mode + ' ' + part.variant;
}

std::string campaign_text(const Campaign& campaign, const CampaignResult& result) {
    std::string text;
    if (result.parts.size() > 1)
        for (const CampaignPart& part : result.parts)
            text +=
                fmt::format("{}: {}\n", name_of(part), schedules_text(part.schedules, part.failed));
    text += schedules_text(result.schedules(), result.failed.size()) + '\n';
    text += faults_text(result.counts);
    text += sums_text(campaign, result.counts);
    for (const FailedSeed& failed : result.failed) {
        text += fmt::format("seed {} ({}): {}\n", failed.seed,
                            name_of({.mode = failed.mode, .variant = failed.variant}), failed.why);
        if (!failed.says.empty()) text += fmt::format("  it was: {}\n", failed.says);
        text += fmt::format("  replay: {}\n", failed.replay);
    }
    if (result.interrupted) text += "interrupted\n";
    return text;
}

nlohmann::json campaign_json(const CampaignRequest& request, const CampaignResult& result) {
    using nlohmann::json;
    json failed = json::array(), parts = json::array();
    for (const FailedSeed& each : result.failed)
        failed.push_back({{"seed", each.seed},
                          {"mode", each.mode},
                          {"variant", each.variant},
                          {"why", each.why},
                          {"says", each.says},
                          {"replay", each.replay}});
    std::uint64_t first = result.parts.front().seeds.first, last = result.parts.front().seeds.last;
    for (const CampaignPart& part : result.parts) {
        first = std::min(first, part.seeds.first);
        last = std::max(last, part.seeds.last);
        parts.push_back({{"mode", part.mode},
                         {"variant", part.variant},
                         {"first", part.seeds.first},
                         {"last", part.seeds.last},
                         {"schedules", part.schedules},
                         {"failed", part.failed}});
    }
    return {{"mode", request.mode},
            {"variant", request.variant},
            {"first", first},
            {"last", last},
            {"schedules", result.schedules()},
            {"failed", failed},
            {"counts", result.counts},
            {"parts", parts},
            {"interrupted", result.interrupted}};
}

}  // namespace assay::drive
