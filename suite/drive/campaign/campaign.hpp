// What a system declares of its campaigns: its protocol under many seeded schedules of faults, and
// after each whether every rule was kept. `assay campaign SYSTEM` runs them (run_campaign.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay::drive {

/// Both are in it.
struct SeedRange {
    std::uint64_t first = 1, last = 1;

    std::uint64_t size() const { return last - first + 1; }
    bool operator==(const SeedRange&) const = default;
};
/// Seeds as typed: "17" or "1..20". Throws UserError with a sentence.
SeedRange parse_seed_range(const std::string& text);
/// The same the other way round.
std::string to_string(SeedRange);

/// What became of the schedule of one seed.
struct SeedOutcome {
    bool ok = false;
    std::string why;                     ///< the first broken rule; empty: none
    std::map<std::string, long> counts;  ///< add up over seeds; "fault.KIND": one struck
    std::string says;                    ///< what the seed stood for; may be empty
    bool operator==(const SeedOutcome&) const = default;
};

/// Ends a schedule. Is no std::exception: that would be the end of the worker in which it is found.
struct BrokenRule {
    std::string why;
};

/// One way to run a schedule.
struct CampaignMode {
    std::string name;  ///< as in --mode
    std::string says;  ///< for --help: "in virtual time"
    SeedRange seeds;   ///< where nobody says which
    /// Called once, before any process is forked: loads what the seeds need. Throws
    /// NotSupportedHere. May be empty.
    std::function<void()> prepare;
    /// The schedule of a seed, in a process of its own or shared with other seeds. Equal arguments
    /// stand for the same schedule, and in virtual time for the same outcome. `variant`: one of
    /// Campaign::variants; empty: the seed decides. What it throws is the seed's failure. What it
    /// prints goes to standard error.
    std::function<SeedOutcome(std::uint64_t seed, const std::string& variant)> run;
    /// Seconds of one seed: more is an endless loop or a deadlock, and its process is killed.
    double longest_s = 60;
    /// In a process, one after the other. 1: each finds a process in which nothing has run yet, and
    /// is told of with a line of its own.
    int seeds_per_process = 1;
    int jobs = 1;  ///< processes at once where nobody says; 0: as many as processors
    /// Of Campaign::variants, those that it cannot run, each with a sentence that says why. Who
    /// asks for one is told so (NotSupportedHere); `all` leaves them out.
    std::map<std::string, std::string> cannot = {};
};

// What a training's campaign consists of where nothing speaks against it: the controller alone, and
// a small training.
CampaignMode in_virtual_time(decltype(CampaignMode::run) run);  ///< "virtual", 300 seeds
CampaignMode with_processes(decltype(CampaignMode::prepare) prepare,
                            decltype(CampaignMode::run) run);  ///< "live", 20 seeds

struct Campaign {
    std::string says;                   ///< for --help
    std::vector<CampaignMode> modes;    ///< the first where nobody says which
    std::vector<std::string> variants;  ///< that --variant can ask for instead of the seed's own
    /// Which sums are told of, in this order, as "NUMBER WORDS". The others are in the JSON.
    struct Told {
        std::string count, words;
    };
    std::vector<Told> told;
};

}  // namespace assay::drive
