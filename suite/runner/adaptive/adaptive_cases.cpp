#include "suite/runner/adaptive/adaptive_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

int AdaptiveCases::AdaptiveCase::complete_rounds() const {
    int rounds = 0;
    while (true) {
        const auto it = finished.find(rounds);
        if (it == finished.end() || it->second.size() < variants.size()) return rounds;
        ++rounds;
    }
}

double AdaptiveCases::AdaptiveCase::seconds_below(int round) const {
    double sum = 0;
    for (const auto& [at, taken] : seconds)
        if (at < round) sum += taken;
    return sum;
}

AdaptiveCases::AdaptiveCases(const Plan& plan, const DecisionOptions& options)
    : options_(options), rule_(stopping_rule(options)) {
    for (const PlannedSample& planned : plan.samples) {
        if (planned.spec.round != 0) continue;
        const auto [it, is_new] = index_.try_emplace(key(planned.spec), cases_.size());
        if (is_new) {
            AdaptiveCase& added = cases_.emplace_back();
            added.experiment = planned.experiment;
            added.axes = planned.spec.axes;
            added.metrics = deciding_metrics(*planned.experiment, options);
        }
        cases_[it->second].variants.push_back(planned.spec.variant);
    }
    for (AdaptiveCase& adaptive : cases_)
        adaptive.against = compared_against(*adaptive.experiment, adaptive.variants, options);
}

std::string AdaptiveCases::key(const SampleSpec& spec) {
    return spec.experiment + ' ' + to_json(spec.axes).dump();
}

void AdaptiveCases::add(const store::Sample& sample) {
    const auto it = index_.find(key(sample.spec));
    if (it == index_.end()) return;
    AdaptiveCase& of = cases_[it->second];
    of.arms[sample.spec.variant].add(sample, of.metrics);
    of.finished[sample.spec.round].insert(sample.spec.variant);
    of.seconds[sample.spec.round] += sample.seconds;
}

double AdaptiveCases::seconds_left(std::size_t index, int round) const {
    double left = options_.budget_s;
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        left -= cases_[earlier].seconds_below(options_.max_rounds);
    return left / static_cast<double>(cases_.size() - index) - cases_[index].seconds_below(round);
}

AdaptiveCases::Turn AdaptiveCases::turn(const SampleSpec& spec) {
    const std::size_t index = index_.at(key(spec));
    AdaptiveCase& of = cases_[index];
    if (of.stopped) return Turn::skip;
    if (spec.round <= of.asked_round) return Turn::run;
    of.asked_round = spec.round;
    const auto next =
        next_of(contrasts(of, spec.round), spec.round, seconds_left(index, spec.round), rule_);
    of.stopped = next != stopping::Stopping::Next::go_on;
    return of.stopped ? Turn::stop : Turn::run;
}

std::vector<Contrast> AdaptiveCases::contrasts(const AdaptiveCase& of, int rounds) const {
    static const ArmRounds nothing;
    const auto arm = [&](const std::string& variant) -> const ArmRounds& {
        const auto it = of.arms.find(variant);
        return it == of.arms.end() ? nothing : it->second;
    };
    std::vector<Contrast> result;
    for (const std::string& variant : of.variants) {
        if (variant == of.against) continue;
        Contrast names;
        names.axes = of.axes;
        names.variant = variant;
        names.against = of.against;
        for (Contrast& contrast : contrasts_of(arm(of.against), arm(variant), rounds,
                                               *of.experiment, options_, rule_, names))
            result.push_back(std::move(contrast));
    }
    return result;
}

std::vector<Contrast> AdaptiveCases::contrasts(const SampleSpec& spec) const {
    const AdaptiveCase& of = cases_[index_.at(key(spec))];
    return contrasts(of, of.complete_rounds());
}

std::vector<Contrast> AdaptiveCases::contrasts() const {
    std::vector<Contrast> result;
    for (const AdaptiveCase& of : cases_)
        for (Contrast& contrast : contrasts(of, of.complete_rounds()))
            result.push_back(std::move(contrast));
    return result;
}

}  // namespace assay::runner
