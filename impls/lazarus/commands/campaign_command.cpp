#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/commands/commands.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr std::uint64_t kMostSeeds = 10'000'000;

campaign::Outcome run_in_virtual_time(std::uint64_t seed) {
    return campaign::run_virtual_schedule(seed);
}

struct Failure {
    std::uint64_t seed;
    std::string mode, why, replay;
};

struct Tally {
    long schedules = 0;
    std::vector<Failure> failed;
    std::map<std::string, long> counts;
};

class CampaignCommand : public Command {
  public:
    CampaignCommand(RunSchedule run_live, RunSchedule run_virtual)
        : run_live_(std::move(run_live)), run_virtual_(std::move(run_virtual)) {}

    void options(CLI::App& app) override {
        app.description(
            "Seeded schedules of faults against the Lazarus controller and its rivals; checks "
            "every rule of the protocol in each");
        app.add_option("--seeds", seeds_, "one seed, or a range")
            ->capture_default_str()
            ->type_name("N|FIRST..LAST");
        app.add_option("--mode", mode_,
                       "virtual: in virtual time; live: with processes on this machine; all: both")
            ->capture_default_str()
            ->check(CLI::IsMember({"virtual", "live", "all"}))
            ->type_name("NAME");
        app.add_flag("--json", json_, "print JSON");
        app.footer(
            "Examples:\n"
            "  assay campaign lazarus\n"
            "  assay campaign lazarus --seeds 1..5000\n"
            "  assay campaign lazarus --seeds 17 --mode virtual --json");
    }

    int run() override {
        const SeedRange range = parse_seed_range(seeds_);
        if (mode_ != "virtual" && !run_live_)
            throw NotSupportedHere(
                "live campaigns are not supported here: this build has no libtorch or no Gloo; use "
                "--mode virtual");
        Tally tally;
        if (mode_ != "live") run_all("virtual", run_virtual_, range, tally);
        if (mode_ != "virtual") run_all("live", run_live_, range, tally);
        if (json_) {
            print_json(range, tally);
        } else {
            print_text(tally);
        }
        return tally.failed.empty() ? 0 : 1;
    }

  private:
    void run_all(const std::string& mode, const RunSchedule& run_one, SeedRange range,
                 Tally& tally) {
        for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
            show_progress(mode, seed, range, tally);
            const campaign::Outcome outcome = run_one(seed);
            ++tally.schedules;
            for (const auto& [name, count] : outcome.counts) tally.counts[name] += count;
            if (!outcome.ok) {
                tally.failed.push_back(
                    {seed, mode, outcome.why,
                     fmt::format("assay campaign lazarus --seeds {} --mode {}", seed, mode)});
            }
            if (mode == "live" && !json_) {
                fmt::print("live {}: {}{}\n", seed, outcome.ok ? "ok" : outcome.why,
                           outcome.faults.empty() ? "" : "; " + outcome.faults);
            }
        }
        if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
    }

    static void show_progress(const std::string& mode, std::uint64_t seed, SeedRange range,
                              const Tally& tally) {
        if (!isatty(STDERR_FILENO) || (mode == "virtual" && seed % 50 != 0)) return;
        fmt::print(stderr, "\r\033[K{} seed {} of {}..{}, {} failed", mode, seed, range.first,
                   range.last, tally.failed.size());
        std::fflush(stderr);
    }

    static void print_text(const Tally& tally) {
        const auto count = [&](const char* name) {
            const auto found = tally.counts.find(name);
            return found == tally.counts.end() ? 0 : found->second;
        };
        fmt::print("{} schedule{}, {} failed\n", tally.schedules, tally.schedules == 1 ? "" : "s",
                   tally.failed.size());
        fmt::print("faults:");
        bool any = false;
        for (const auto& [name, times] : tally.counts) {
            if (name.rfind("fault.", 0) != 0) continue;
            fmt::print("{} {} {}", any ? "," : "", times, name.substr(6));
            any = true;
        }
        fmt::print("{}\n", any ? "" : " none");
        fmt::print(
            "{} steps committed, {} discarded, {} fallbacks to a checkpoint, {} retries, {} "
            "evictions, {} unreadable checkpoints, {} waits for nodes\n",
            count("commits"), count("discarded"), count("fallbacks"), count("retries"),
            count("evictions"), count("bad_checkpoints"), count("waits"));
        for (const Failure& failure : tally.failed) {
            fmt::print("seed {} ({}): {}\n  replay: {}\n", failure.seed, failure.mode, failure.why,
                       failure.replay);
        }
    }

    void print_json(SeedRange range, const Tally& tally) const {
        auto failed = nlohmann::json::array();
        for (const Failure& failure : tally.failed) {
            failed.push_back({{"seed", failure.seed},
                              {"mode", failure.mode},
                              {"why", failure.why},
                              {"replay", failure.replay}});
        }
        const nlohmann::json whole{{"mode", mode_},      {"first", range.first},
                                   {"last", range.last}, {"schedules", tally.schedules},
                                   {"failed", failed},   {"counts", tally.counts}};
        fmt::print("{}\n", whole.dump());
    }

    RunSchedule run_live_;
    RunSchedule run_virtual_;
    std::string seeds_ = "1..300", mode_ = "virtual";
    bool json_ = false;
};

}  // namespace

SeedRange parse_seed_range(const std::string& text) {
    const auto malformed = [&] {
        return UserError(fmt::format(
            "--seeds {}: give one seed (17), or the first and the last of a range (1..20)", text));
    };
    const auto number = [&](std::string_view digits) {
        std::uint64_t value = 0;
        const char* end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, value);
        if (error != std::errc{} || rest != end) throw malformed();
        return value;
    };
    const auto dots = text.find("..");
    SeedRange range;
    range.first = number(std::string_view(text).substr(0, dots));
    range.last =
        dots == std::string::npos ? range.first : number(std::string_view(text).substr(dots + 2));
    if (range.last < range.first)
        throw UserError(fmt::format("--seeds {}: the last seed is before the first", text));
    if (range.last - range.first >= kMostSeeds)
        throw UserError(
            fmt::format("--seeds {}: more than {} seeds; give a smaller range", text, kMostSeeds));
    if (range.last == std::uint64_t(-1)) throw malformed();
    return range;
}

std::unique_ptr<Command> make_campaign_command(RunSchedule run_live, RunSchedule run_virtual) {
    if (!run_virtual) run_virtual = run_in_virtual_time;
    return std::make_unique<CampaignCommand>(std::move(run_live), std::move(run_virtual));
}

}  // namespace assay::lazarus
