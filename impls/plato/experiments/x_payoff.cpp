// When planning pays: a rule in four numbers of the user's, fitted to some plans and tested on
// others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "impls/plato/simulated/step_model.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::plato {
namespace {

constexpr int plans_each = 40;

/// A plan at a user's step times, and whether planning paid.
struct Case {
    PlanRecord plan;
    StepCosts costs;
    double speedup = 0;
};

/// Tokens one behind the other: lines of the plan and answers, on the longest way through it.
std::int64_t longest_way(const PlanRecord& plan) {
    std::vector<std::int64_t> end;
    std::int64_t lines = 0, most = 0;
    for (const NodeRecord& node : plan.nodes) {
        lines += node.line_tokens;
        std::int64_t from = lines;
        for (const int before : node.dependencies)
            from = std::max(from, end[static_cast<std::size_t>(before - 1)]);
        end.push_back(from + node.out_tokens);
        most = std::max(most, end.back());
    }
    return most;
}

/// What the rule predicts of the time with a plan over that without, from counts alone: the longest
/// way at C0 a step, every token at C1, and prompts at P, of which `reused` are found.
double predicted_ratio(const Case& each, double reused) {
    const PlanRecord& plan = each.plan;
    std::int64_t prompts = 0, answers = 0, lines = 0;
    for (int node = 1; node <= plan.size(); ++node) {
        prompts += tokens_of(prompt_of(plan, Mode::plato, node));
        answers += plan.node(node).out_tokens;
        lines += plan.node(node).line_tokens;
    }
    const StepCosts& costs = each.costs;
    const double with = costs.step_ms * static_cast<double>(longest_way(plan)) +
                        costs.sequence_ms * static_cast<double>(answers + lines) +
                        costs.prefill_ms * (static_cast<double>(plan.question_tokens) +
                                            (1 - reused) * static_cast<double>(prompts));
    const double without =
        (costs.step_ms + costs.sequence_ms) * static_cast<double>(plan.ar_tokens) +
        costs.prefill_ms * static_cast<double>(plan.question_tokens);
    return with / without;
}

struct XPayoff {
    double density = 0, c1 = 0, p = 0;
    int load = 0;
    std::uint64_t seed = 1;
};

std::vector<Case> cases_of(const XPayoff& settings, std::uint64_t seed) {
    // Others on the engine make every step longer, with a plan and without.
    const StepCosts costs{.step_ms = 1 + settings.c1 * settings.load,
                          .sequence_ms = settings.c1,
                          .prefill_ms = settings.p};
    std::vector<Case> cases;
    for (PlanRecord& plan : draw_plans({.edge = settings.density}, plans_each, seed)) {
        Case each{.plan = std::move(plan), .costs = costs};
        each.speedup = schedule(each.plan, costs, {.warm = true}).speedup();
        cases.push_back(std::move(each));
    }
    return cases;
}

/// The one number that is fitted: the share of prompts that is found in the cache, of the grid that
/// misses the time least on the plans that it is fitted to.
double fitted_reuse(const std::vector<Case>& cases) {
    double best = 0, least = -1;
    for (int i = 0; i <= 50; ++i) {
        const double reused = i / 50.0;
        double miss = 0;
        for (const Case& each : cases) {
            const double error = predicted_ratio(each, reused) * each.speedup - 1;
            miss += error * error;
        }
        if (least >= 0 && miss >= least) continue;
        least = miss;
        best = reused;
    }
    return best;
}

struct Found : Metrics {
    using Metrics::Metrics;
    Metric speedup = exact("speedup", "ratio", "over no plan: mean of the other plans", higher);
    Metric pays_share = exact("pays_share", "share", "of the other plans, those that are faster");
    Metric rule_right =
        exact("rule_right", "share", "of the other plans, the rule says rightly whether", higher);
    Metric rule_wrongly_planned =
        exact("rule_wrongly_planned", "share", "… says that it pays, and it does not", lower);
    Metric rule_error =
        exact("rule_error", "share", "the predicted speedup misses the real one by: mean", lower);
    Metric fitted_reuse = exact("fitted_reuse", "share", "r");
};

void run(const XPayoff& settings, Recorder& recorder) {
    const auto known = cases_of(settings, settings.seed);
    const auto others = cases_of(settings, settings.seed + 1000003);
    const double reused = fitted_reuse(known);
    double pays = 0, right = 0, wrongly_planned = 0, error = 0, speedup = 0;
    for (const Case& each : others) {
        const double predicted = 1 / predicted_ratio(each, reused);
        pays += each.speedup > 1 ? 1 : 0;
        right += (predicted > 1) == (each.speedup > 1) ? 1 : 0;
        wrongly_planned += predicted > 1 && each.speedup <= 1 ? 1 : 0;
        error += std::abs(predicted - each.speedup) / each.speedup;
        speedup += each.speedup;
    }
    const auto all = static_cast<double>(others.size());
    const Found found(recorder);
    found.speedup(speedup / all);
    found.pays_share(pays / all);
    found.rule_right(right / all);
    found.rule_wrongly_planned(wrongly_planned / all);
    found.rule_error(error / all);
    found.fitted_reuse(reused);
}

}  // namespace

Experiment x_payoff() {
    Declaration<XPayoff> payoff(
        {.id = "plato/x_payoff",
         .title = "When planning pays, and a rule that says so",
         .source = "our own; no paper's",
         .says = fmt::format(
             "Drawn plans in virtual time (plato, L2, static parts cached), C0 = 1. The rule: "
             "planning pays where C0 · W + C1 · (answers + lines) + P · (question + (1 − r) · "
             "prompts) is less than (C0 + C1) · answer + P · question, counts in tokens; W: lines "
             "and answers on the longest way through the plan; r: the share of node prompts that "
             "is found in the cache, the only number that is fitted, to {0} plans. It is tested on "
             "{0} others. load: other sequences on the engine, C1 each in every step.",
             plans_each),
         .variants = {"plato"},
         .metrics = declared<Found>(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "speedup",
                    .x = "density",
                    .panels = {"c1", "p", "load"},
                    .x_title = "probability of an edge",
                    .y_title = "speedup over no plan"}});
    for (const Profile profile : {Profile::toy, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::simulated};
        plan.seconds_per_sample = 0.1;
        payoff.rest.profiles.push_back(plan);
    }
    payoff.axis("density", &XPayoff::density, "probability of an edge", {0.0, 0.25, 0.5, 0.75, 1.0},
                between(0, 1));
    payoff.axis("c1", &XPayoff::c1, "C1 over C0", {0.003, 0.1, 0.3}, between(0, 1000));
    payoff.axis("p", &XPayoff::p, "P over C0", {0.005, 0.1}, between(0, 1000));
    payoff.axis("load", &XPayoff::load, "other sequences", {0, 32}, between(0, 100'000));
    payoff.given(&XPayoff::seed, &SampleSpec::seed);
    return payoff.runs(run);
}

}  // namespace assay::plato
