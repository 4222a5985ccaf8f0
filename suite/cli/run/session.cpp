#include "suite/cli/run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/quantity_text.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/results_text.hpp"
#include "suite/cli/run/warnings_before_run.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/comparison/comparison_table.hpp"
#include "suite/report/page/html_page.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/samples_output.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// So that whoever reads the database without this program sees units.
std::vector<store::MetricUnit> declared_units(const Registry& registry, const runner::Plan& plan) {
    std::set<std::string> ids;
    for (const auto& sample : plan.samples) ids.insert(sample.spec.experiment);
    std::vector<store::MetricUnit> units;
    for (const auto& id : ids)
        if (const Experiment* experiment = registry.experiment(id))
            for (const MetricSpec& metric : experiment->metrics)
                units.push_back({id, metric.name, metric.unit, metric.better});
    return units;
}

/// Than the profiles say.
bool has_further_rounds(const runner::Plan& plan) {
    return std::any_of(plan.samples.begin(), plan.samples.end(), [](const auto& planned) {
        return planned.spec.round >= planned.experiment->plan(planned.spec.profile)->rounds;
    });
}

bool has_status(const store::Sample& sample, SampleStatus status) {
    return sample.status == to_string(status);
}

bool is_ok(const store::Sample& sample) { return has_status(sample, SampleStatus::ok); }

}  // namespace

runner::Outcome run_session(const RunOptions& options, const runner::Request& request,
                            const runner::Plan& plan, const Context& context) {
    for (const std::string& sentence : plan.left_out)
        print_line(std::cerr, "left out: " + sentence);
    for (const runner::StandIn& in : plan.stand_ins) print_line(std::cerr, sentence(in));
    for (const std::string& sentence : plan.too_few_rounds) print_line(std::cerr, sentence);
    if (request.until_precise && has_further_rounds(plan))
        print_line(
            std::cerr,
            fmt::format("Rounds go on until two such runs could tell {:g} % apart, at most {} of a "
                        "case and {} of an experiment; --rounds N takes so many.",
                        100 * request.until_precise->share, request.until_precise->max_rounds,
                        duration_text(request.until_precise->budget_s)));
    // First: a run that is refused begins no database.
    const auto lock = lock_machine(plan, request.lock, context.command_line);
    store::Store store = open_or_begin(context);
    store.put_metric_units(declared_units(context.registry, plan));
    runner::Request recorded = request;
    recorded.lock = false;  // it is taken
    if (!options.no_doctor)
        if (const auto warnings = warnings_before_run(plan, options.settle_s))
            recorded.suspects["warnings"] = *warnings;
    const bool stream = options.events == "jsonl";
    LiveProgress progress(terminal_width());
    return runner::execute(context.registry, plan, recorded, store,
                           [&](const runner::Notice& notice) {
                               if (stream)
                                   print_json_line(event_line(notice));
                               else
                                   progress.on(notice);
                           });
}

std::string session_text(const Registry& registry, const runner::Outcome& outcome,
                         const std::filesystem::path& database, bool all_metrics) {
    std::string text = results_text(registry, outcome.samples, outcome.claims,
                                    {.all_metrics = all_metrics, .columns = text_columns()});
    if (!outcome.contrasts.empty())
        text += "\nDecided\n" + report::contrast_table(outcome.contrasts, text_columns()) +
                fitted_lines(report::saved_line(outcome.saved), text_columns());
    text +=
        fmt::format("\nsession {} in {}\n", outcome.session, report::printable(database.string()));
    const auto first = std::find_if(outcome.samples.begin(), outcome.samples.end(), is_ok);
    if (first != outcome.samples.end())
        text += "replay a sample: " + suggested_line("replay " + first->id.substr(0, 8)) + '\n';
    if (outcome.interrupted) text += "interrupted; the same command goes on from here\n";
    return text;
}

nlohmann::json session_json(const Registry& registry, const runner::Outcome& outcome,
                            const std::filesystem::path& database) {
    nlohmann::json claims = nlohmann::json::array();
    for (const ClaimCheck& check : outcome.claims)
        if (const Claim* claim = registry.claim(check.claim))
            claims.push_back(report::claim_json(*claim, check));
    nlohmann::json result{{"session", outcome.session},
                          {"samples", report::samples_json(outcome.samples)},
                          {"claims", claims},
                          {"interrupted", outcome.interrupted},
                          {"database", database.string()}};
    for (const runner::Contrast& contrast : outcome.contrasts)
        result["contrasts"].push_back(runner::contrast_json(contrast));
    if (!outcome.contrasts.empty()) result["saved"] = outcome.saved;
    return result;
}

std::string session_report(const Registry& registry, const runner::Plan& plan,
                           const runner::Outcome& outcome, const store::Store& store) {
    report::HtmlInput input;
    input.registry = &registry;
    input.store = &store;
    for (const runner::PlannedSample& sample : plan.samples)
        if (input.experiments.empty() || input.experiments.back() != sample.experiment)
            input.experiments.push_back(sample.experiment);
    for (const ClaimCheck& check : outcome.claims)
        input.claims.push_back(registry.claim(check.claim));
    return report::html(input);
}

bool any_unexplained(const Registry& registry, const std::vector<ClaimCheck>& checks) {
    return std::any_of(checks.begin(), checks.end(), [&](const ClaimCheck& check) {
        const Claim* claim = registry.claim(check.claim);
        return check.verdict == ClaimVerdict::contradicted &&
               !(claim != nullptr && is_explained(*claim, check));
    });
}

ExitCode session_exit_code(const Registry& registry, const runner::Outcome& outcome, bool gate) {
    const auto any = [&](SampleStatus status) {
        return std::any_of(outcome.samples.begin(), outcome.samples.end(),
                           [&](const store::Sample& sample) { return has_status(sample, status); });
    };
    if (outcome.interrupted || any(SampleStatus::failed)) return exit_error;
    if (!outcome.samples.empty() && std::all_of(outcome.samples.begin(), outcome.samples.end(),
                                                [](const store::Sample& sample) {
                                                    return has_status(sample,
                                                                      SampleStatus::unsupported);
                                                }))
        return exit_not_supported;
    if (gate && any_unexplained(registry, outcome.claims)) return exit_regression;
    if (gate && any(SampleStatus::invalid)) return exit_ambiguous;
    return exit_ok;
}

}  // namespace assay::cli
