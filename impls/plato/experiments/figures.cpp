// What the paper's text tells of its figures, whose numbers are not known, on plans of ours.
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/experiments/plans_experiment.hpp"

namespace assay::plato {
namespace {

constexpr const char* paper = "arXiv 2402.12280v2, abstract; the body was not found";

}  // namespace

Experiment throughput() {
    return plans_experiment(
        {.id = "plato/throughput",
         .title = "Throughput: without a plan, Skeleton-of-Thought, Plato",
         .source = paper,
         .says = "Answer tokens per second of one question at a time. Prompts take the longest "
                 "common prefix from the cache (L2).",
         .axes = {plans_axis()},
         .variants = {"ar", "sot", "waves", "plato_nopipe", "plato"},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "answer_tokens_per_s",
                    .x = "plans",
                    .panels = {"model", "device"},
                    .x_title = "plans",
                    .y_title = "answer tokens per second"},
         .seconds_per_sample = 40});
}

Experiment pipeline() {
    return plans_experiment({.id = "plato/pipeline",
                             .title = "What decoding while the plan is being written gains",
                             .source = paper,
                             .says = "plato starts a node once its line is out, plato_nopipe once "
                                     "the whole plan is.",
                             .axes = {plans_axis()},
                             .variants = {"plato_nopipe", "plato"},
                             .figure = {.kind = Figure::Kind::bars,
                                        .metric = "latency_p50_s",
                                        .x = "plans",
                                        .panels = {"model", "device"},
                                        .x_title = "plans",
                                        .y_title = "seconds to an answer"},
                             .with_ar = false,
                             .with_waiting = true});
}

Experiment kv() {
    return plans_experiment({.id = "plato/kv",
                             .title = "Prompt tokens computed again, by level of reuse",
                             .source = paper,
                             .says = "L0 computes every prompt whole, L1 shares instruction and "
                                     "question, L2 the longest common prefix, L3 links answers "
                                     "wherever they stand, which is not exact.",
                             .axes = {plans_axis(), reuse_axis()},
                             .variants = {"ar", "sot", "waves", "plato_nopipe", "plato"},
                             .figure = {.kind = Figure::Kind::bars,
                                        .metric = "recomputed_fraction",
                                        .x = "kv",
                                        .panels = {"plans", "model"},
                                        .x_title = "reuse",
                                        .y_title = "prompt tokens computed again"},
                             .toy_variants = {"plato"},
                             .with_ar = false});
}

Experiment shape() {
    return plans_experiment(
        {.id = "plato/shape",
         .title = "From independent nodes to a chain",
         .source = paper,
         .says = "An edge from each of the four nodes before with a probability of `density`.",
         .axes = {{"density", "probability of an edge", {0.0, 0.25, 0.5, 0.75, 1.0}, true}},
         .variants = {"sot", "waves", "plato_nopipe", "plato"},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "speedup",
                    .x = "density",
                    .panels = {"model", "device"},
                    .x_title = "probability of an edge",
                    .y_title = "speedup over no plan"},
         .simulated_first = true});
}

}  // namespace assay::plato
