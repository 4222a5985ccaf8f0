// What the paper's text tells of its figures, whose numbers are not known, on plans of ours.
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/plans_experiment.hpp"

namespace assay::plato {
namespace {

constexpr const char* paper = "arXiv 2402.12280v2, abstract; the body was not found";

}  // namespace

Experiment throughput() {
    Declaration<AnsweredPlans> throughput(
        {.id = "plato/throughput",
         .title = "Throughput: without a plan, Skeleton-of-Thought, Plato",
         .source = paper,
         .says = "Answer tokens per second of one question at a time. Prompts take the longest "
                 "common prefix from the cache (L2).",
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "answer_tokens_per_s",
                    .x = "plans",
                    .panels = {"model", "device"},
                    .x_title = "plans",
                    .y_title = "answer tokens per second"}});
    throughput.part(plans_axes());
    throughput.variants(&AnsweredPlans::mode);
    return plans_experiment(throughput, {.seconds_per_sample = 40});
}

Experiment pipeline() {
    Declaration<AnsweredPlans> pipeline(
        {.id = "plato/pipeline",
         .title = "What decoding while the plan is being written gains",
         .source = paper,
         .says = "plato starts a node once its line is out, plato_nopipe once the whole plan is.",
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "latency_p50_s",
                    .x = "plans",
                    .panels = {"model", "device"},
                    .x_title = "plans",
                    .y_title = "seconds to an answer"}});
    pipeline.part(plans_axes());
    pipeline.variants(&AnsweredPlans::mode, {Mode::plato_nopipe, Mode::plato});
    return plans_experiment(pipeline, {.with_ar = false, .with_waiting = true});
}

Experiment kv() {
    Declaration<AnsweredPlans> kv(
        {.id = "plato/kv",
         .title = "Prompt tokens computed again, by level of reuse",
         .source = paper,
         .says = "L0 computes every prompt whole, L1 shares instruction and question, L2 the "
                 "longest common prefix, L3 links answers wherever they stand, which is not exact.",
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "recomputed_fraction",
                    .x = "kv",
                    .panels = {"plans", "model"},
                    .x_title = "reuse",
                    .y_title = "prompt tokens computed again"}});
    kv.part(plans_axes());
    kv.axis("kv", &AnsweredPlans::reuse, "what prompts take from the cache");
    kv.variants(&AnsweredPlans::mode);
    return plans_experiment(kv, {.with_ar = false, .toy_variants = {"plato"}});
}

Experiment shape() {
    Declaration<AnsweredPlans> shape(
        {.id = "plato/shape",
         .title = "From independent nodes to a chain",
         .source = paper,
         .says = "An edge from each of the four nodes before with a probability of `density`.",
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "speedup",
                    .x = "density",
                    .panels = {"model", "device"},
                    .x_title = "probability of an edge",
                    .y_title = "speedup over no plan"}});
    shape.axis("density", &AnsweredPlans::density, "probability of an edge",
               {0.0, 0.25, 0.5, 0.75, 1.0}, between(0, 1));
    shape.variants(&AnsweredPlans::mode, {Mode::sot, Mode::waves, Mode::plato_nopipe, Mode::plato});
    return plans_experiment(shape, {.simulated_first = true});
}

}  // namespace assay::plato
