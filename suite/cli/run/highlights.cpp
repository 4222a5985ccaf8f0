// assay highlights: what is worth seeing first of every system, and one page about it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/quantity_text.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/claim/tolerance.hpp"
#include "suite/cli/run/dry_run.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/data/check.hpp"
#include "suite/data/fetch.hpp"
#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

struct HighlightsOptions {
    std::vector<std::string> systems;
    RunOptions run;
    std::string report_file = "assay-report.html";
};

/// Those named, else all that have a highlight.
std::vector<const System*> chosen(const Registry& registry, const std::vector<std::string>& names) {
    std::vector<const System*> systems;
    std::string known;
    for (const System& system : registry.systems()) {
        if (system.highlight.parts.empty()) continue;
        known += (known.empty() ? "" : ", ") + system.id;
        if (names.empty() || std::find(names.begin(), names.end(), system.id) != names.end())
            systems.push_back(&system);
    }
    for (const std::string& name : names)
        if (std::none_of(systems.begin(), systems.end(),
                         [&](const System* system) { return system->id == name; }))
            throw UserError(fmt::format("no highlight of '{}'; there are: {}", name, known));
    if (systems.empty()) throw UserError("no system of this build has a highlight");
    return systems;
}

runner::Plan plan_of(const Context& context, const std::vector<const System*>& systems,
                     const runner::Request& request) {
    std::vector<runner::Plan> plans;
    for (const System* system : systems)
        for (const Highlight::Part& part : system->highlight.parts) {
            runner::Request one = request;
            one.patterns = {part.experiment};
            one.axes = part.axes;
            one.variants = part.variants;
            one.rounds = part.rounds;
            plans.push_back(runner::make_plan(context.registry, one));
        }
    return runner::joined(std::move(plans));
}

/// What one system showed.
struct Shown {
    const System* system;
    std::vector<store::Sample> samples;
    std::vector<ClaimCheck> checks;
    std::filesystem::path picture;  ///< empty: none
    double seconds = 0;

    std::size_t ok() const {
        return static_cast<std::size_t>(
            std::count_if(samples.begin(), samples.end(), [](const store::Sample& sample) {
                return sample.status == to_string(SampleStatus::ok);
            }));
    }
};

bool is_of(const System& system, const std::string& id) {
    return id.rfind(system.id + "/", 0) == 0;
}

std::vector<Shown> shown(const std::vector<const System*>& systems,
                         const runner::Outcome& outcome) {
    std::vector<Shown> all;
    for (const System* system : systems) {
        Shown one{system, {}, {}, {}, 0};
        for (const store::Sample& sample : outcome.samples)
            if (is_of(*system, sample.spec.experiment)) {
                one.samples.push_back(sample);
                one.seconds += sample.seconds;
            }
        for (const ClaimCheck& check : outcome.claims)
            if (is_of(*system, check.claim)) one.checks.push_back(check);
        all.push_back(std::move(one));
    }
    return all;
}

/// Draws the experiment's figure beside the report; the empty path where nothing came out.
std::filesystem::path draw(const Context& context, const store::Store& store, const Shown& of,
                           const std::filesystem::path& report_file) {
    const Experiment* experiment = context.registry.experiment(of.system->highlight.picture);
    if (experiment == nullptr) return {};
    std::vector<store::Sample> samples;
    for (const store::Sample& sample : of.samples)
        if (sample.spec.experiment == experiment->id &&
            sample.status == to_string(SampleStatus::ok))
            samples.push_back(store.sample(sample.id));
    if (samples.empty()) return {};
    std::vector<Claim> claims;
    for (const Claim& claim : of.system->claims)
        if (claim.experiment == experiment->id) claims.push_back(claim);
    std::string name = "assay-" + experiment->id + ".svg";
    std::replace(name.begin(), name.end(), '/', '-');
    // Beside the page, or where the command is given when that is printed.
    const std::filesystem::path folder =
        is_standard_output(report_file) ? std::filesystem::path() : report_file.parent_path();
    const std::filesystem::path file = folder / name;
    write_output(file, report::svg_figure(*experiment, samples, claims,
                                          context.registry.event_kinds(*experiment)));
    return file;
}

/// The first sentences, as many as fit.
std::string beginning(const std::string& reason, std::size_t characters) {
    std::size_t end = 0;
    for (std::size_t at = reason.find(". "); at != std::string::npos && at < characters;
         at = reason.find(". ", at + 1))
        end = at + 1;
    if (reason.size() <= characters) return reason;
    if (end > 0) return reason.substr(0, end);
    return reason.substr(0, reason.rfind(' ', characters)) + " …";
}

std::string system_text(const Registry& registry, const Shown& one, std::size_t columns) {
    std::string out = hanging(one.system->id + ": ", one.system->highlight.says, columns);
    std::string line = fmt::format("{} of {} samples in {}; ", one.ok(), one.samples.size(),
                                   duration_text(one.seconds));
    line += report::headline(report::tally(registry, one.checks));
    out += report::indented(line, columns);
    for (const store::Sample& sample : one.samples)
        if (sample.status != to_string(SampleStatus::ok)) {
            out += report::indented(
                fmt::format("{} {}: {}", sample.spec.experiment, sample.status, sample.reason),
                columns);
            break;
        }
    if (!one.picture.empty())
        out += "    picture  " + std::filesystem::absolute(one.picture).string() + '\n';
    return out;
}

std::string open_claims_text(const Registry& registry, const std::vector<ClaimCheck>& checks,
                             std::size_t columns) {
    constexpr std::size_t reason_length = 220;
    std::string out;
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (claim == nullptr || check.verdict != ClaimVerdict::contradicted) continue;
        out +=
            hanging("  ",
                    fmt::format("{} ({}): paper {}, ours {}", claim->id, to_string(check.verdict),
                                claim->value ? value_text(*claim) : "–",
                                check.obtained ? report::number(*check.obtained) : "–"),
                    columns);
        const std::string explained = report::explanation_text(*claim, check);
        const std::string& why = explained.empty() ? check.reason : explained;
        out += report::indented(beginning(why, reason_length), columns);
    }
    return out.empty() ? "" : "\nDoes not hold as printed\n" + out;
}

struct Next {
    std::string command, says;
};

std::vector<Next> next_commands(const Context& context, const std::vector<Shown>& all) {
    std::vector<Next> next{{with_database("claims"), "every verdict with its reason"}};
    for (const Shown& one : all)
        if (one.system->plan && next.size() == 1)
            next.push_back(
                {"plan " + one.system->id + " --help", "what it would do on your machines"});
    next.push_back({with_database("reproduce all"),
                    "everything at profile toy: hours, goes on where it stopped"});
    for (Next& one : next) one.command = context.program + " " + one.command;
    return next;
}

std::string page(const Context& context, const runner::Outcome& outcome,
                 const std::vector<Shown>& all, const HighlightsOptions& options, double seconds) {
    const std::size_t columns = drawing_width(98);
    std::string out =
        fmt::format("\nWhat was checked on this machine in {}\n", duration_text(seconds)) +
        report::indented(report::headline(report::tally(context.registry, outcome.claims)),
                         columns) +
        '\n';
    for (const Shown& one : all) out += system_text(context.registry, one, columns);
    out += open_claims_text(context.registry, outcome.claims, columns);
    out += fmt::format("\nreport    {}\ndatabase  {}\n\nNext\n",
                       report::printable(std::filesystem::absolute(options.report_file).string()),
                       report::printable(context.database_path().string()));
    const std::vector<Next> next = next_commands(context, all);
    std::size_t longest = 0;
    for (const Next& one : next) longest = std::max(longest, one.command.size());
    for (const Next& one : next)
        out += hanging(fmt::format("  {:<{}}  ", one.command, longest), one.says, columns);
    if (outcome.interrupted) out += "interrupted; the same command goes on from here\n";
    return out;
}

nlohmann::json page_json(const Context& context, const runner::Outcome& outcome,
                         const std::vector<Shown>& all, const HighlightsOptions& options) {
    nlohmann::json result = session_json(context.registry, outcome, context.database_path());
    result["headline"] = report::headline(report::tally(context.registry, outcome.claims));
    result["report"] = options.report_file;
    for (const Shown& one : all) {
        const std::string picture = one.picture.string();
        result["systems"].push_back(
            {{"system", one.system->id},
             {"says", one.system->highlight.says},
             {"seconds", one.seconds},
             {"headline", report::headline(report::tally(context.registry, one.checks))},
             {"picture", picture.empty() ? nlohmann::json() : nlohmann::json(picture)}});
    }
    for (const Next& next : next_commands(context, all)) result["next"].push_back(next.command);
    return result;
}

/// Brings what the highlights need and a package of this machine has. Where it does not, they go
/// without, and their page says so.
void fetch_data(const Registry& registry, const std::vector<const System*>& systems) {
    const DataFormats formats = registry.data_formats();
    for (const System* system : systems)
        for (const std::string& id : system->highlight.data) {
            if (data::check(data::find(id), formats).state == data::State::ok) continue;
            try {
                print_line(std::cerr, id + ": " + data::fetch(id, {}, {}, formats).string());
            } catch (const data::DataError& error) {
                print_line(std::cerr, id + ": " + error.what());
            }
        }
}

int highlights(const HighlightsOptions& options, const Context& context) {
    const auto begun = std::chrono::steady_clock::now();
    const std::vector<const System*> systems = chosen(context.registry, options.systems);
    runner::Request request = make_request(options.run, context);
    expect_ending("-o", options.report_file, {".html", ".htm"});
    const bool page_printed = is_standard_output(options.report_file);
    expect_one_on_standard_output({{"-o", page_printed}, {"--json", options.run.json}});
    if (!options.run.dry_run) {
        check_output("-o", options.report_file);
        fetch_data(context.registry, systems);  // before the plan, which hashes what samples read
    }
    const runner::Plan plan = plan_of(context, systems, request);
    if (options.run.dry_run) return print_plan(plan, options.run.json);
    std::cerr << fmt::format("{} samples, about {}\n", plan.samples.size(),
                             duration_text(plan.seconds));
    const runner::Outcome outcome = run_session(options.run, request, plan, context);
    const store::Store store = store::Store::open(context.database_path(), store::Access::read);
    std::vector<Shown> all = shown(systems, outcome);
    write_output(options.report_file, session_report(context.registry, plan, outcome, store));
    for (Shown& one : all) one.picture = draw(context, store, one, options.report_file);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (options.run.json)
        print_json(page_json(context, outcome, all, options));
    else
        (page_printed ? std::cerr : std::cout)
            << page(context, outcome, all, options, took.count());
    return session_exit_code(context.registry, outcome, options.run.gate);
}

}  // namespace

void add_highlights_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<HighlightsOptions>();
    CLI::App* command = program.add_subcommand(
        "highlights", "What is worth seeing first of every system: half a minute each, one page");
    command->group("Run");
    command->add_option("systems", options->systems, "lazarus, lte, … (default: all)");
    command->add_option("-o,--output", options->report_file, "HTML file of the report")
        ->type_name("FILE")
        ->capture_default_str()
        ->group("Output");
    command->add_flag("--json", options->run.json, "Print JSON")->group("Output");
    add_session_options(*command, options->run);
    add_care_options(*command, options->run, context);
    command->footer(
        "Pictures lie beside the report. `assay reproduce all` runs everything at profile toy.\n"
        "Examples:\n"
        "  assay highlights\n"
        "  assay highlights lazarus -o lazarus.html");
    command->callback([options, &context] {
        context.action = [options, &context] { return highlights(*options, context); };
    });
}

}  // namespace assay::cli
