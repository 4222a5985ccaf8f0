#include "suite/cli/session_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "suite/cli/contrast_table.hpp"
#include "suite/report/report.hpp"

namespace assay::cli {
namespace {

/// Samples of one experiment and one provenance, in order: provenances are never mixed in a table.
struct Part {
    std::string experiment;
    Provenance provenance;
    Profile profile;
    std::vector<store::Sample> samples;
};

std::vector<Part> parts(const std::vector<store::Sample>& samples) {
    std::vector<Part> result;
    for (const store::Sample& sample : samples) {
        const auto it = std::find_if(result.begin(), result.end(), [&](const Part& part) {
            return part.experiment == sample.spec.experiment &&
                   part.provenance == sample.spec.provenance && part.profile == sample.spec.profile;
        });
        if (it != result.end())
            it->samples.push_back(sample);
        else
            result.push_back(
                {sample.spec.experiment, sample.spec.provenance, sample.spec.profile, {sample}});
    }
    return result;
}

/// Samples that ended alike are told in one line.
std::string problems(const std::vector<store::Sample>& samples) {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const store::Sample*>>
        alike;
    for (const store::Sample& sample : samples)
        if (sample.status != to_string(SampleStatus::ok))
            alike[{sample.spec.experiment, sample.status, sample.reason}].push_back(&sample);
    if (alike.empty()) return {};
    std::string text = "\nNot ok\n";
    for (const auto& [how, group] : alike) {
        const auto& [experiment, status, reason] = how;
        const SampleSpec& first = group.front()->spec;
        const std::string which = group.size() > 1 ? fmt::format("{} samples", group.size())
                                                   : fmt::format("{} {} seed {}", first.variant,
                                                                 to_string(first.axes), first.seed);
        text += fmt::format("  {} {}: {}: {}\n", experiment, which, status, reason);
    }
    return text;
}

bool has_status(const store::Sample& sample, SampleStatus status) {
    return sample.status == to_string(status);
}

bool is_ok(const store::Sample& sample) { return has_status(sample, SampleStatus::ok); }

bool any_ok(const std::vector<store::Sample>& samples) {
    return std::any_of(samples.begin(), samples.end(), is_ok);
}

/// Experiments of many metrics in tables that a terminal can show, each beginning with axes and
/// variant.
std::string results_text(const report::Grid& grid) {
    constexpr std::size_t width = 100;
    const auto variant = std::find(grid[0].begin(), grid[0].end(), "variant");
    const auto keys = variant == grid[0].end() ? 1 : variant - grid[0].begin() + 1;
    return report::text_tables(grid, static_cast<std::size_t>(keys), width);
}

}  // namespace

std::string session_text(const Registry& registry, const runner::Outcome& outcome,
                         const std::filesystem::path& database) {
    std::string text;
    for (const Part& part : parts(outcome.samples)) {
        const Experiment* experiment = registry.experiment(part.experiment);
        if (experiment == nullptr) continue;
        text += fmt::format("\n{}: {} [{}, {}]\n", experiment->id, experiment->title,
                            to_string(part.provenance), to_string(part.profile));
        text += any_ok(part.samples) ? results_text(report::result_table(*experiment, part.samples))
                                     : "no finished sample\n";
    }
    if (!outcome.contrasts.empty())
        text += "\nDecided\n" + contrast_table(outcome.contrasts) + saved_line(outcome.saved);
    text += problems(outcome.samples);
    if (!outcome.claims.empty())
        text += "\nClaims\n" + report::claims_table(registry, outcome.claims);
    text += fmt::format("\nsession {} in {}\n", outcome.session, database.string());
    const auto first = std::find_if(outcome.samples.begin(), outcome.samples.end(), is_ok);
    if (first != outcome.samples.end())
        text += fmt::format("replay a sample: assay replay {}\n", first->id.substr(0, 8));
    if (outcome.interrupted) text += "interrupted; the same command goes on from here\n";
    return text;
}

nlohmann::json session_json(const Registry& registry, const runner::Outcome& outcome,
                            const std::filesystem::path& database) {
    nlohmann::json claims = nlohmann::json::array();
    for (const ClaimCheck& check : outcome.claims)
        if (const Claim* claim = registry.claim(check.claim))
            claims.push_back(to_json(*claim, check));
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

bool any_contradicted(const std::vector<ClaimCheck>& checks) {
    return std::any_of(checks.begin(), checks.end(), [](const ClaimCheck& check) {
        return check.verdict == Verdict::contradicted;
    });
}

ExitCode session_exit_code(const runner::Outcome& outcome, bool gate) {
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
    if (gate && any_contradicted(outcome.claims)) return exit_regression;
    if (gate && any(SampleStatus::invalid)) return exit_ambiguous;
    return exit_ok;
}

}  // namespace assay::cli
