// assay claims: what the papers say, and whether it holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/selection.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/data/needs.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/paper_cells.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

struct ClaimsOptions {
    std::vector<std::string> patterns;
    std::string verdict;
    bool all = false;
    bool settings = false;
    bool summary = false;
    bool markdown = false;
    bool again = false;
    bool gate = false;
    bool json = false;
};

constexpr std::size_t widest = 100;

/// What --verdict takes: a verdict, or which of the states that "not checkable here" stands for.
constexpr std::string_view verdict_names[] = {
    "supported",          "contradicted", "undecided", "calibrated",    "not run",
    "not checkable here", "needs data",   "needs GPU", "needs cluster", "no command"};

/// As one word, which needs no quotes: "not-run".
std::string as_typed(std::string_view name) {
    std::string word;
    for (const char c : name)
        word += c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(c));
    return word;
}

/// Of the words of the summary's columns, too.
std::string_view verdict_named(const std::string& name) {
    const std::string typed = as_typed(name);
    if (typed == "hold" || typed == "holds") return "supported";
    std::string known;
    for (const std::string_view verdict : verdict_names) {
        if (typed == as_typed(verdict)) return verdict;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", as_typed(verdict));
    }
    throw UserError(fmt::format("--verdict '{}': one of {}", name, known));
}

bool has_verdict(const Claim& claim, const ClaimCheck& check, std::string_view name) {
    return claim.kind != ClaimKind::setting &&
           (to_string(check.verdict) == name ||
            report::state_name(report::state_of(claim, check)) == name);
}

/// A page that is written for others says nothing of what this machine happens to have.
NeedIsHere machine_of(const ClaimsOptions& options) {
    if (options.markdown) return [](const std::string&) { return false; };
    return data::is_here;
}

using Tallies = std::vector<std::pair<std::string, report::ClaimsTally>>;

/// Checks of each system that has any, in the registry's order.
Tallies tallies(const Registry& registry, const std::vector<ClaimCheck>& checks,
                const NeedIsHere& here) {
    Tallies all;
    for (const System& system : registry.systems()) {
        std::vector<ClaimCheck> own;
        for (const ClaimCheck& check : checks)
            if (check.claim.rfind(system.id + "/", 0) == 0) own.push_back(check);
        if (!own.empty()) all.emplace_back(system.id, report::tally(registry, own, here));
    }
    return all;
}

using Column = std::pair<const char*, std::size_t (*)(const report::StateCounts&)>;

constexpr Column summary_columns[] = {
    {"supported", [](const report::StateCounts& sum) { return sum.hold; }},
    {"contradicted", [](const report::StateCounts& sum) { return sum.contradicted; }},
    {"of these explained", [](const report::StateCounts& sum) { return sum.explained; }},
    {"undecided", [](const report::StateCounts& sum) { return sum.undecided; }},
    {"calibrated", [](const report::StateCounts& sum) { return sum.calibrated; }},
    {"not run", [](const report::StateCounts& sum) { return sum.not_run; }},
    {"not checkable here", [](const report::StateCounts& sum) { return sum.not_checkable(); }},
    {"claims", [](const report::StateCounts& sum) { return sum.claims(); }}};

template <Provenance provenance>
std::size_t hold_by(const report::StateCounts& sum) {
    const auto found = sum.hold_by.find(provenance);
    return found == sum.hold_by.end() ? 0 : found->second;
}

/// Of those that are supported, how that was obtained.
constexpr Column provenance_columns[] = {
    {"measured", hold_by<Provenance::measured>},
    {"emulated", hold_by<Provenance::emulated>},
    {"simulated", hold_by<Provenance::simulated>},
    {"exact", hold_by<Provenance::exact>},
    {"supported", [](const report::StateCounts& sum) { return sum.hold; }}};

constexpr const char* provenance_title = "How those that are supported were obtained:";

/// The papers' claims by system, then what is ours and what is arithmetic.
report::Grid summary_grid(const Tallies& all, std::span<const Column> columns) {
    report::Grid grid{{"system"}};
    for (const auto& [title, count] : columns) grid[0].emplace_back(title);
    const auto add = [&](const std::string& name, const report::StateCounts& sum) {
        if (sum.claims() == 0) return;
        grid.push_back({name});
        for (const auto& [title, count] : columns)
            grid.back().push_back(std::to_string(count(sum)));
    };
    for (const auto& [system, sum] : all) add(system, sum);
    for (const auto& [system, sum] : all) add(system + ", ours", sum.ours);
    for (const auto& [system, sum] : all) add(system + ", arithmetic", sum.arithmetic);
    return grid;
}

nlohmann::json counts_json(const report::StateCounts& sum) {
    nlohmann::json obtained = nlohmann::json::object();
    for (const auto& [name, count] : std::span(provenance_columns).first<4>())
        obtained[name] = count(sum);
    return {{"claims", sum.claims()},
            {"checked", sum.checked()},
            {"supported", sum.hold},
            {"supported by provenance", obtained},
            {"contradicted", sum.contradicted},
            {"explained", sum.explained},
            {"undecided", sum.undecided},
            {"calibrated", sum.calibrated},
            {"not run", sum.not_run},
            {"not checkable here", sum.not_checkable()},
            {"need data", sum.need_data},
            {"need GPU", sum.need_gpu},
            {"need cluster", sum.need_cluster},
            {"no command", sum.no_command}};
}

nlohmann::json summary_json(const Registry& registry, const std::vector<ClaimCheck>& checks,
                            const NeedIsHere& here) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [system, sum] : tallies(registry, checks, here)) {
        rows.push_back(counts_json(sum));
        rows.back().update({{"system", system},
                            {"ours", counts_json(sum.ours)},
                            {"arithmetic", counts_json(sum.arithmetic)},
                            {"settings", sum.settings}});
    }
    return rows;
}

/// "1a2b, 3c4d and 12 more"
std::string first_of(const std::set<std::string>& all, std::string_view between) {
    constexpr std::size_t most = 10;
    std::vector<std::string> some(all.begin(), all.end());
    if (all.size() > most) some.resize(most);
    return fmt::format(
        "{}{}", fmt::join(some, between),
        all.size() > most ? fmt::format(" and {} more", all.size() - most) : std::string());
}

/// Where and when what is stored was made: "Recorded 2026-11-22 on Some CPU (2 cores); commit
/// 1a2b3c4."
std::string recorded_text(const store::Store& store) {
    std::set<std::string> days, machines, commits;
    for (const store::Session& session : store.sessions()) {
        days.insert(session.started.substr(0, session.started.find('T')));
        if (const auto commit = session.suspects.find("commit"); commit != session.suspects.end())
            if (commit->is_string()) commits.insert(commit->get<std::string>());
        const auto machine = store.machine(session.machine);
        if (machine && machine->description.contains("cpu"))
            machines.insert(fmt::format("{} ({} cores)",
                                        machine->description["cpu"].get<std::string>(),
                                        machine->description.value("usable_cores", 0)));
    }
    if (days.empty()) return {};
    std::string text = "Recorded " + *days.begin();
    if (days.size() > 1) text += " to " + *days.rbegin();
    if (!machines.empty()) text += " on " + first_of(machines, " and ");
    if (!commits.empty())
        text +=
            fmt::format("; commit{} {}", commits.size() == 1 ? "" : "s", first_of(commits, ", "));
    return text + '.';
}

void print_summary(const Context& context, const ClaimsOptions& options,
                   const std::vector<ClaimCheck>& checks, const store::Store* store) {
    const std::string recorded = store == nullptr ? "" : recorded_text(*store);
    const NeedIsHere here = machine_of(options);
    if (options.json) {
        print_json(summary_json(context.registry, checks, here));
        return;
    }
    const Tallies all = tallies(context.registry, checks, here);
    const report::Grid counts = summary_grid(all, summary_columns),
                       obtained = summary_grid(all, provenance_columns);
    if (options.markdown)
        std::cout << report::markdown_table(counts) << '\n'
                  << provenance_title << "\n\n"
                  << report::markdown_table(obtained) << '\n'
                  << recorded << '\n';
    else
        std::cout << report::text_table(counts, text_columns()) << '\n'
                  << hanging("", provenance_title, prose_columns()) << '\n'
                  << report::text_table(obtained, text_columns()) << '\n'
                  << hanging("", recorded, prose_columns());
}

void print_claims_json(const Registry& registry, const std::vector<ClaimCheck>& shown) {
    nlohmann::json array = nlohmann::json::array();
    for (const ClaimCheck& check : shown)
        array.push_back(report::claim_json(*registry.claim(check.claim), check));
    print_json(array);
}

/// `all` is what the first line counts, `shown` what --verdict leaves of it.
void print_claims(const Context& context, const ClaimsOptions& options,
                  const std::vector<ClaimCheck>& all, const std::vector<ClaimCheck>& shown,
                  const store::Store* store) {
    const std::size_t columns = drawing_width(widest);
    const report::ClaimsTally sum = report::tally(context.registry, all);
    if (sum.all_kinds() > 0)
        std::cout << hanging("", report::headline(sum), text_columns()) << '\n';
    if (options.settings) {
        std::cout << report::settings_table(context.registry, all, text_columns());
        return;
    }
    if (!options.verdict.empty() && shown.empty()) {
        std::cout << hanging("",
                             fmt::format("none of these {} claims reads '{}'", sum.all_kinds(),
                                         verdict_named(options.verdict)),
                             prose_columns());
        return;
    }
    // One claim, or claims of one verdict, are meant to be read.
    const bool in_full = options.all || !options.verdict.empty() || shown.size() == 1;
    std::cout << (in_full ? report::claims_rows(context.registry, shown, columns)
                          : report::claims_table(context.registry, shown, columns));
    if (shown.size() == 1 && store != nullptr) {
        const Claim& claim = *context.registry.claim(shown.front().claim);
        std::cout << report::text_table(
            report::cells_grid(claim, store->newest_samples(claim.experiment)), text_columns());
    }
    if (!in_full && sum.settings > 0)
        std::cout << '\n'
                  << hanging("",
                             fmt::format(
                                 "{} setting{} of the paper{} no claim{}: {}", sum.settings,
                                 sum.settings == 1 ? "" : "s", sum.settings == 1 ? " is" : "s are",
                                 sum.settings == 1 ? "" : "s", suggested("claims --settings")),
                             prose_columns());
}

int run_claims(const Context& context, const ClaimsOptions& options) {
    if (options.markdown && !options.summary) throw UserError("--markdown belongs to --summary");
    expect_one_on_standard_output({{"--markdown", options.markdown}, {"--json", options.json}});
    if (options.settings && !options.verdict.empty())
        throw UserError("--settings have no verdict: give --settings or --verdict");
    if (options.summary && !options.verdict.empty())
        throw UserError("--summary counts every verdict: give --summary or --verdict");
    auto claims = select_claims(context.registry, options.patterns);
    if (options.settings)
        std::erase_if(claims, [](const Claim* claim) { return claim->kind != ClaimKind::setting; });
    const auto store = open_if_any(context);
    const NeedIsHere here = machine_of(options);
    const std::vector<ClaimCheck> checks =
        store && options.again
            ? report::checks_of_today(context.registry, &*store, claims, here)
            : report::newest_checks(context.registry, store ? &*store : nullptr, claims, here);
    std::vector<ClaimCheck> shown = checks;
    if (!options.verdict.empty())
        std::erase_if(shown, [&, wanted = verdict_named(options.verdict)](const ClaimCheck& check) {
            return !has_verdict(*context.registry.claim(check.claim), check, wanted);
        });
    if (options.summary)
        print_summary(context, options, checks, store ? &*store : nullptr);
    else if (options.json)
        print_claims_json(context.registry, shown);
    else
        print_claims(context, options, checks, shown, store ? &*store : nullptr);
    return options.gate && any_unexplained(context.registry, checks) ? exit_regression : exit_ok;
}

}  // namespace

void add_claims_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ClaimsOptions>();
    CLI::App* command =
        program.add_subcommand("claims", "What the papers claim, and whether it holds");
    command->group("Results");
    command->add_option(
        "patterns", options->patterns,
        "Experiments or claims: lazarus/fig8, lazarus/fig8/gpt-l, all (the default)");
    command->add_option("--verdict", options->verdict,
                        "Only these: supported, contradicted, undecided, calibrated, "
                        "not-run, not-checkable-here; of the last also needs-data, needs-gpu, "
                        "needs-cluster or no-command");
    command->add_flag("--all", options->all, "A row for each claim and setting, checked or not");
    command->add_flag("--settings", options->settings,
                      "Only what the papers chose (nodes, batch sizes, …), which is not checked");
    command->add_flag("--summary", options->summary,
                      "Counts by system only, and how those that hold were obtained");
    command->add_flag("--markdown", options->markdown, "With --summary: as a Markdown table");
    command->add_flag("--again", options->again,
                      "Check what is stored anew, as after an update, instead of showing what came "
                      "out when it was run");
    command->add_flag("--gate", options->gate,
                      "Exit 2 when one is contradicted and its explanation does not hold");
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer(
        "The first line counts all claims that are asked for, each once. Those without a verdict\n"
        "were not run (a command checks them here), need data that is not on this machine, a GPU\n"
        "or the paper's own cluster, or no command of this version checks them. Further down they\n"
        "are counted by the reason; --all or --verdict lists them.\n"
        "Examples:\n"
        "  assay claims lazarus --verdict contradicted\n"
        "  assay claims lazarus/fig8/gpt-l --all\n"
        "  assay claims --summary --markdown");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_claims(context, *options); };
    });
}

}  // namespace assay::cli
