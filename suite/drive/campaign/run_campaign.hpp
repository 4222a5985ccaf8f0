// A campaign as asked for: seeds, modes, variants; what came of it, and how that is told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/drive/campaign/campaign.hpp"

namespace assay::drive {

inline constexpr const char* all_of_them = "all";      ///< modes, variants
inline constexpr const char* drawn_variant = "drawn";  ///< the seed decides

struct CampaignRequest {
    std::string system;                   ///< "lazarus", for the commands that are printed
    std::optional<SeedRange> seeds;       ///< none: the mode's
    std::string mode;                     ///< its name, or "all"
    std::string variant = drawn_variant;  ///< "drawn", a name, or "all" (each of them in turn)
    int jobs = 0;                         ///< 0: the mode's
    bool fail_fast = false;
};

/// One mode with one variant.
struct CampaignPart {
    std::string mode, variant;
    SeedRange seeds;
    std::uint64_t schedules = 0, failed = 0;  ///< that were run
};

/// "virtual", "virtual ds".
std::string name_of(const CampaignPart&);

struct FailedSeed {
    std::uint64_t seed = 0;
    std::string mode, variant;
    std::string why, says;  ///< of its outcome
    std::string replay;     ///< the command that runs it again
};

struct CampaignResult {
    std::vector<CampaignPart> parts;     ///< in the order in which they ran
    std::vector<FailedSeed> failed;      ///< in the order of the seeds, part by part
    std::map<std::string, long> counts;  ///< of all seeds
    bool interrupted = false;

    std::uint64_t schedules() const;
};

struct CampaignListener {
    /// Of modes whose seeds have a process each.
    std::function<void(const CampaignPart&, std::uint64_t seed, const SeedOutcome&)> on_seed;
    /// `done`: how many of the part's are, some of them not counted in it yet.
    std::function<void(const CampaignPart&, std::uint64_t done)> on_progress;
};

/// Forks: call it in a process with one thread. While it runs, SIGINT and SIGTERM interrupt it and
/// nothing else. Throws NotSupportedHere before anything runs where a mode cannot.
CampaignResult run_campaign(const Campaign&, const CampaignRequest&, const CampaignListener&);

/// For people; lines end.
std::string campaign_text(const Campaign&, const CampaignResult&);
/// {"mode","variant","first","last","schedules","failed":[{"seed","mode","variant","why","says",
/// "replay"}],"counts":{},"parts":[{"mode","variant","first","last","schedules","failed"}],
/// "interrupted"}; "first" and "last" over all parts.
nlohmann::json campaign_json(const CampaignRequest&, const CampaignResult&);

}  // namespace assay::drive
