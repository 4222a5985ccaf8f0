// From how many target rows, and tokens of a row, on which way of scoring gradients is cheaper.
#include "impls/dr_post_training/experiments/experiments.hpp"
#include "impls/dr_post_training/plans/linear_maps.hpp"
#include "impls/dr_post_training/policy/costs.hpp"
#include "impls/model/named_models.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

struct Crossovers {
    std::string model;
    std::int64_t tokens = 0;
};

void run(const Crossovers& crossovers, Recorder& recorder) {
    const ScoringCosts costs = scoring_costs(linear_maps_of(model::named_shape(crossovers.model)),
                                             {.tokens = static_cast<double>(crossovers.tokens)});
    recorder.metric("crossover_m", costs.crossover_m);
    recorder.metric("crossover_tokens", costs.crossover_tokens);
    for (const Scoring scoring : scorings) {
        const auto at = static_cast<std::size_t>(scoring);
        const Labels labels{{"scoring", std::string(to_string(scoring))}};
        recorder.metric("flops", costs.flops[at], labels);
        recorder.metric("elements", costs.elements[at], labels);
        recorder.metric("overhead_flops", costs.overhead_flops[at], labels);
    }
}

}  // namespace

Experiment crossovers() {
    Declaration<Crossovers> crossovers(
        {.id = "dr_post_training/crossovers",
         .title = "Where one way of scoring gradients becomes cheaper than another",
         .source =
             "arXiv 2605.07063v1, as its repository states it: the number of a table or figure is "
             "not known",
         .says =
             "Closed forms on the shapes of published models, blocks' linear maps without "
             "embedding and head: with V* target rows or more, scores by the target's gradient "
             "(pip) take fewer FLOPs than those by inner products of tokens (gip); with fewer than "
             "T* tokens a row pip holds less than every row's gradient (direct). Counted for 8 "
             "rows, 1 target row, 4 rows kept; nothing is measured.",
         .variants = {"pip"},
         .metrics =
             {{"crossover_m", "rows",
               "V*: target rows from which on pip takes fewer FLOPs than gip", Direction::none,
               true},
              {"crossover_tokens", "tokens", "T*: of a row, below which pip holds less than direct",
               Direction::none, true},
              {"flops", "FLOP", "of all scores of a step", Direction::lower, true, {"scoring"}},
              {"elements",
               "count",
               "held while the largest map is scored",
               Direction::lower,
               true,
               {"scoring"}},
              {"overhead_flops",
               "share",
               "FLOPs of a step beyond those of a plain one",
               Direction::lower,
               true,
               {"scoring"}}},
         .profiles = exact_profiles(0.02),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "crossover_m",
                    .x = "tokens",
                    .panels = {"model"},
                    .x_title = "tokens of a row",
                    .y_title = "target rows, V*",
                    .log_y = true}});
    crossovers.axis(
        "model", &Crossovers::model, "shape",
        {"smollm2-360m", "tinyllama-1.1b", "llama3.2-3b", "qwen3-1.7b", "qwen3-4b", "qwen3-8b"},
        or_others);
    crossovers.axis("tokens", &Crossovers::tokens, "of a row", {128, 512, 2048},
                    between(1, 1'000'000));
    crossovers.check([](const Crossovers& of) { model::named_shape(of.model); });
    return crossovers.runs(run);
}

}  // namespace assay::dr_post_training
