// assay campaign SYSTEM: seeded schedules of faults against a system's own protocol.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/command.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/seed_progress.hpp"
#include "suite/drive/campaign/run_campaign.hpp"

namespace assay::cli {
namespace {

using drive::Campaign;
using drive::CampaignPart;

struct CampaignOptions {
    drive::CampaignRequest request;
    std::string seeds;  ///< as typed; empty: the mode's
    bool json = false;
};

/// Tells of a campaign while it runs.
class CampaignReport {
  public:
    explicit CampaignReport(bool json) : json_(json), progress_(terminal_width()) {}

    void seed_done(const CampaignPart& part, std::uint64_t seed,
                   const drive::SeedOutcome& outcome) {
        if (json_) return;
        progress_.wipe();
        std::cout << fmt::format("{} {}: {}{}\n", drive::name_of(part), seed,
                                 outcome.ok ? "ok" : outcome.why,
                                 outcome.says.empty() ? "" : "; " + outcome.says)
                  << std::flush;
    }
    void progress(const CampaignPart& part, std::uint64_t done) {
        if (drive::name_of(part) != running_) begin_ = Clock::now();
        running_ = drive::name_of(part);
        const std::chrono::duration<double> taken = Clock::now() - begin_;
        progress_.on({.what = running_,
                      .done = done,
                      .all = part.seeds.size(),
                      .failed = part.failed,
                      .taken_s = taken.count()});
    }

  private:
    using Clock = std::chrono::steady_clock;

    bool json_;
    SeedProgress progress_;
    std::string running_;
    Clock::time_point begin_ = Clock::now();
};

int run_and_tell(const Campaign& campaign, const CampaignOptions& options) {
    drive::CampaignRequest request = options.request;
    if (!options.seeds.empty()) request.seeds = drive::parse_seed_range(options.seeds);
    const drive::CampaignResult result = [&] {
        CampaignReport report(options.json);
        return drive::run_campaign(
            campaign, request,
            {.on_seed = [&](const auto&... heard) { report.seed_done(heard...); },
             .on_progress = [&](const auto&... heard) { report.progress(heard...); }});
    }();
    if (options.json)
        print_json_line(drive::campaign_json(request, result));
    else
        std::cout << drive::campaign_text(campaign, result);
    return result.failed.empty() && !result.interrupted ? exit_ok : exit_error;
}

std::vector<std::string> with(std::vector<std::string> names, const char* more) {
    names.emplace_back(more);
    return names;
}

std::string seeds_help(const Campaign& campaign) {
    std::string text = "One seed, or a range; else ";
    for (const drive::CampaignMode& mode : campaign.modes)
        text += fmt::format("{}{} ({})", &mode == campaign.modes.data() ? "" : ", ",
                            to_string(mode.seeds), mode.name);
    return text;
}

std::string modes_help(const Campaign& campaign) {
    std::string text;
    for (const drive::CampaignMode& mode : campaign.modes)
        text += fmt::format("{}: {}; ", mode.name, mode.says);
    return text + "all: each of them";
}

std::vector<std::string> mode_names(const Campaign& campaign) {
    std::vector<std::string> names;
    for (const drive::CampaignMode& mode : campaign.modes) names.push_back(mode.name);
    return names;
}

std::string examples_of(const System& system) {
    const Campaign& campaign = *system.campaign;
    const std::string command = "assay campaign " + system.id;
    std::string text = "Examples:\n  " + command + "\n";
    text += fmt::format("  {} --seeds 1..10000{}\n", command,
                        campaign.variants.empty() ? "" : " --variant all");
    for (std::size_t i = 1; i < campaign.modes.size(); ++i)
        text +=
            fmt::format("  {} --mode {} --seeds 1..20 --jobs 2\n", command, campaign.modes[i].name);
    return text + fmt::format("  {} --seeds 17 --mode {} --json", command, campaign.modes[0].name);
}

void add_options(CLI::App& command, const System& system, CampaignOptions& options) {
    const Campaign& campaign = *system.campaign;
    options.request.system = system.id;
    options.request.mode = campaign.modes.front().name;
    command.description(campaign.says);
    command.add_option("--seeds", options.seeds, seeds_help(campaign))->type_name("N|FIRST..LAST");
    command.add_option("--mode", options.request.mode, modes_help(campaign))
        ->capture_default_str()
        ->check(CLI::IsMember(with(mode_names(campaign), drive::all_of_them)))
        ->type_name("NAME");
    if (!campaign.variants.empty())
        command
            .add_option("--variant", options.request.variant,
                        "Who must keep the rules; drawn: each seed decides; all: each of them, all "
                        "seeds")
            ->capture_default_str()
            ->check(CLI::IsMember(
                with(with(campaign.variants, drive::drawn_variant), drive::all_of_them)))
            ->type_name("NAME");
    command
        .add_option("--jobs", options.request.jobs,
                    "Processes at once; else as many as the mode can use")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    command.add_flag("--fail-fast", options.request.fail_fast, "End at the first seed that fails");
    command.add_flag("--json", options.json,
                     "{\"schedules\",\"failed\":[{\"seed\",\"why\",\"replay\",…}],\"counts\",…}");
    command.footer(
        "What a seed does to its process, a crash or an endless loop, is its own failure; the\n"
        "others go on. Ctrl-C ends with what was found so far.\n"
        "Exit codes: 0 every rule was kept, 1 a seed failed, or interrupted,\n"
        "            4 not supported here.\n" +
        examples_of(system));
}

}  // namespace

void add_campaign_command(CLI::App& program, Context& context) {
    CLI::App* command = program.add_subcommand(
        "campaign", "Run a system's protocol under many seeded schedules of faults");
    command->require_subcommand(1);
    std::string examples = "Examples:";
    for (const System& system : context.registry.systems()) {
        if (!system.campaign) continue;
        auto options = std::make_shared<CampaignOptions>();
        CLI::App* campaign = command->add_subcommand(system.id, system.title);
        add_options(*campaign, system, *options);
        campaign->callback([options, &system, &context] {
            context.action = [options, &system] {
                return run_and_tell(*system.campaign, *options);
            };
        });
        examples += "\n  assay campaign " + system.id + " --seeds 1..300";
    }
    command->footer(examples);
    command->group("Run");  // last: its subcommands would inherit it
}

}  // namespace assay::cli
