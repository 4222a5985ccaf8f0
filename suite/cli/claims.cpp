// assay claims: what the papers say, and whether it holds.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/cli/claim_checks.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/json_output.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/cli/session_summary.hpp"
#include "suite/experiment/error.hpp"
#include "suite/report/report.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {
namespace {

struct ClaimsOptions {
    std::string pattern = "all";
    std::string verdict;
    bool again = false;
    bool gate = false;
    bool json = false;
};

constexpr Verdict verdicts[] = {Verdict::supported,          Verdict::contradicted,
                                Verdict::calibrated,         Verdict::open_discrepancy,
                                Verdict::not_checkable_here, Verdict::not_run};

/// Hyphens and underscores stand for blanks, so that no quotes are needed.
Verdict verdict_named(std::string name) {
    for (char& c : name)
        if (c == '-' || c == '_') c = ' ';
    std::string known;
    for (const Verdict verdict : verdicts) {
        if (name == to_string(verdict)) return verdict;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(verdict));
    }
    throw UserError(fmt::format("--verdict '{}': one of {}", name, known));
}

std::string counts(const std::vector<ClaimCheck>& checks) {
    std::map<Verdict, int> number;
    for (const ClaimCheck& check : checks) ++number[check.verdict];
    std::string text = fmt::format("{} claims", checks.size());
    const char* separator = ": ";
    for (const auto& [verdict, count] : number) {
        text += fmt::format("{}{} {}", separator, count, to_string(verdict));
        separator = ", ";
    }
    return text;
}

/// By this program's claims and checks, from what is stored.
std::vector<ClaimCheck> checked_again(const Context& context, const store::Store& store,
                                      const std::vector<const Claim*>& claims) {
    std::vector<const Experiment*> experiments;
    for (const Claim* claim : claims) {
        const Experiment* experiment = context.registry.experiment(claim->experiment);
        if (experiment &&
            std::find(experiments.begin(), experiments.end(), experiment) == experiments.end())
            experiments.push_back(experiment);
    }
    std::vector<ClaimCheck> checks = newest_checks(context.registry, nullptr, claims);
    for (ClaimCheck& fresh : runner::check_claims(context.registry, store, experiments, ""))
        for (ClaimCheck& check : checks)
            if (check.claim == fresh.claim) check = fresh;
    return checks;
}

int run_claims(const Context& context, const ClaimsOptions& options) {
    const auto claims = select_claims(context.registry, options.pattern);
    const auto store = open_if_any(context);
    std::vector<ClaimCheck> checks =
        store && options.again ? checked_again(context, *store, claims)
                               : newest_checks(context.registry, store ? &*store : nullptr, claims);
    if (!options.verdict.empty()) {
        const Verdict wanted = verdict_named(options.verdict);
        checks.erase(
            std::remove_if(checks.begin(), checks.end(),
                           [&](const ClaimCheck& check) { return check.verdict != wanted; }),
            checks.end());
    }
    if (options.json) {
        nlohmann::json array = nlohmann::json::array();
        for (const ClaimCheck& check : checks)
            array.push_back(to_json(*context.registry.claim(check.claim), check));
        print_json(array);
    } else {
        std::cout << report::claims_table(context.registry, checks) << counts(checks) << '\n';
    }
    return options.gate && any_contradicted(checks) ? exit_regression : exit_ok;
}

}  // namespace

void add_claims_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ClaimsOptions>();
    CLI::App* command =
        program.add_subcommand("claims", "What the papers claim, and whether it holds");
    command->group("Results");
    command->add_option("pattern", options->pattern,
                        "Experiments or claims: lazarus/fig8, lazarus/fig8/gpt-l, all");
    command->add_option("--verdict", options->verdict,
                        "Only these: supported, contradicted, calibrated, open-discrepancy, "
                        "not-checkable-here, not-run");
    command->add_flag("--again", options->again,
                      "Check what is stored anew, as after an update, instead of showing what came "
                      "out when it was run");
    command->add_flag("--gate", options->gate, "Exit 2 when one is contradicted");
    command->add_flag("--json", options->json, "Print JSON");
    add_database_option(*command, context);
    command->footer("Example:\n  assay claims lazarus --verdict open-discrepancy");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_claims(context, *options); };
    });
}

}  // namespace assay::cli
