#include "suite/runner/adaptive/adaptive_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::runner {

std::string compared_against(const Experiment& experiment, const std::vector<std::string>& variants,
                             const DecisionOptions& options) {
    if (variants.size() < 2)
        throw UserError(
            fmt::format("{}: --until-decided compares variants, and only {} would run; "
                        "`assay versus` compares builds",
                        experiment.id, fmt::join(variants, ", ")));
    if (options.against.empty()) return variants.front();
    if (std::find(variants.begin(), variants.end(), options.against) == variants.end())
        throw UserError(fmt::format("--against {}: {} would run {}", options.against, experiment.id,
                                    fmt::join(variants, ", ")));
    return options.against;
}

AdaptiveCases::AdaptiveCases(const Plan& plan, const DecisionOptions& options)
    : CaseRounds(
          plan, options.budget_s,
          [&](const Experiment& experiment) { return deciding_metrics(experiment, options); }),
      options_(options),
      rule_(stopping_rule(options)) {
    for (const CaseSoFar& of : cases()) compared_against(*of.experiment, of.variants, options);
}

bool AdaptiveCases::enough(const CaseSoFar& of, int rounds, double seconds_left) const {
    return next_of(contrasts(of, rounds), rounds, seconds_left, rule_) !=
           stopping::Stopping::Next::go_on;
}

std::vector<Contrast> AdaptiveCases::contrasts(const CaseSoFar& of, int rounds) const {
    const std::string against = compared_against(*of.experiment, of.variants, options_);
    std::vector<Contrast> result;
    for (const std::string& variant : of.variants) {
        if (variant == against) continue;
        Contrast names;
        names.axes = of.axes;
        names.variant = variant;
        names.against = against;
        for (Contrast& contrast : contrasts_of(of.arm(against), of.arm(variant), rounds,
                                               *of.experiment, options_, rule_, names))
            result.push_back(std::move(contrast));
    }
    return result;
}

std::vector<Contrast> AdaptiveCases::contrasts(const SampleSpec& spec) const {
    return contrasts(of(spec), of(spec).complete_rounds());
}

std::vector<Contrast> AdaptiveCases::contrasts() const {
    std::vector<Contrast> result;
    for (const CaseSoFar& of : cases())
        for (Contrast& contrast : contrasts(of, of.complete_rounds()))
            result.push_back(std::move(contrast));
    return result;
}

}  // namespace assay::runner
