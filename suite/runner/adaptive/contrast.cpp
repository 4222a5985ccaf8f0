#include "suite/runner/adaptive/contrast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/series.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/measure/statistics/stopping.hpp"
#include "suite/runner/sample/pipe_recorder.hpp"

namespace assay::runner {

void ArmRounds::add(const store::Sample& sample, const std::vector<std::string>& metrics) {
    if (sample.status != to_string(SampleStatus::ok)) return;
    for (const store::MetricValue& metric : sample.metrics)
        if (std::find(metrics.begin(), metrics.end(), metric.name) != metrics.end())
            values_[sample.spec.round][{metric.name, metric.labels}] = metric.value;
}

std::map<store::MetricKey, std::vector<double>> paired_ratios(const ArmRounds& a,
                                                              const ArmRounds& b, int end) {
    std::map<store::MetricKey, std::vector<double>> ratios;
    for (const auto& [round, of_a] : a.values()) {
        const auto of_b = b.values().find(round);
        if (round >= end || of_b == b.values().end()) continue;
        for (const auto& [metric, value] : of_a)
            if (const auto other = of_b->second.find(metric); other != of_b->second.end())
                ratios[metric].push_back(stopping::pair_ratio(value, other->second));
    }
    return ratios;
}

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<std::string> deciding_metrics(const Experiment& experiment,
                                          const DecisionOptions& options) {
    if (options.metrics.empty()) return {experiment.figure.metric};
    for (const std::string& name : options.metrics) {
        if (declared_metric(experiment, name) != nullptr) continue;
        std::vector<std::string> known;
        for (const MetricSpec& metric : experiment.metrics) known.push_back(metric.name);
        throw UserError(fmt::format("{} has no metric '{}'; it has: {}", experiment.id, name,
                                    fmt::join(known, ", ")));
    }
    return options.metrics;
}

stopping::Stopping stopping_rule(const DecisionOptions& options) {
    if (!(options.margin > 0 && options.margin < 1))
        throw UserError(fmt::format("--margin {:g}%: more than 0 and less than 100 percent",
                                    100 * options.margin));
    if (!(options.level > 0.5 && options.level < 1))
        throw UserError(fmt::format("a level of {}: more than 0.5 and less than 1", options.level));
    if (!(options.budget_s > 0)) throw UserError("--budget: more than 0 seconds");
    constexpr int most_rounds = 10'000;  // the error's recursion is quadratic in them
    if (options.max_rounds < 1 || options.max_rounds > most_rounds)
        throw UserError(
            fmt::format("--max-rounds {}: from 1 to {}", options.max_rounds, most_rounds));
    return stopping::Stopping({options.level, options.min_rounds, options.max_rounds});
}

std::string_view Contrast::verdict() const {
    using stopping::Standing;
    switch (answer.standing) {
        case Standing::same:
            return "same";
        case Standing::above:
            return better == Direction::none     ? "higher"
                   : better == Direction::higher ? "faster"
                                                 : "slower";
        case Standing::below:
            return better == Direction::none     ? "lower"
                   : better == Direction::higher ? "slower"
                                                 : "faster";
        case Standing::undecided:
        case Standing::no_ratio:
            break;
    }
    return "ambiguous";
}

std::vector<Contrast> contrasts_of(const ArmRounds& against, const ArmRounds& arm, int rounds,
                                   const Experiment& experiment, const DecisionOptions& options,
                                   const stopping::Stopping& rule, const Contrast& names) {
    auto ratios = paired_ratios(against, arm, rounds);
    if (!options.only.empty())
        std::erase_if(ratios, [&](const auto& each) { return !options.only.contains(each.first); });
    if (ratios.empty())
        for (const std::string& metric : deciding_metrics(experiment, options))
            ratios[{metric, {}}];
    std::vector<Contrast> result;
    for (auto& [metric, values] : ratios) {
        Contrast contrast = names;
        contrast.experiment = experiment.id;
        contrast.metric = metric;
        if (const MetricSpec* spec = experiment.metric(metric.name))
            contrast.better = spec->better;
        else if (const auto of = options.better.find(metric.name); of != options.better.end())
            contrast.better = of->second;
        contrast.rounds = rounds;
        contrast.answer = rule.answer({values, options.margin});
        const bool has_ratio = contrast.answer.standing != stopping::Standing::no_ratio;
        contrast.ratio = values.empty() || !has_ratio ? no_number : statistics::median(values);
        result.push_back(std::move(contrast));
    }
    return result;
}

stopping::Stopping::Next next_of(const std::vector<Contrast>& contrasts, int rounds,
                                 double seconds_left, const stopping::Stopping& rule) {
    std::vector<stopping::Answer> answers;
    for (const Contrast& contrast : contrasts) answers.push_back(contrast.answer);
    return rule.next(answers, rounds, seconds_left);
}

nlohmann::json contrast_json(const Contrast& contrast) {
    return {{"experiment", contrast.experiment},
            {"case", to_json(contrast.axes)},
            {"variant", contrast.variant},
            {"against", contrast.against},
            {"metric", metric_text(contrast.metric.name, contrast.metric.labels)},
            {"ratio", finite_or_null(contrast.ratio)},
            {"low", finite_or_null(contrast.answer.low)},
            {"high", finite_or_null(contrast.answer.high)},
            {"pairs", contrast.answer.pairs},
            {"rounds", contrast.rounds},
            {"verdict", contrast.verdict()}};
}

}  // namespace assay::runner
