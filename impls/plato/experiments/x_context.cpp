// The order of dependencies in prompts: as the plan numbers them, or so that most is reused.
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/recorded_plans.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "impls/plato/policy/reuse_order.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::plato {
namespace {

constexpr int at_once = 4, drawn = 200;

struct Counts {
    std::int64_t prompt = 0, recomputed = 0;
    double fraction() const {
        return static_cast<double>(recomputed) / static_cast<double>(prompt);
    }
};

/// Nats of nodes whose order is another one in the two variants; tokens, and their sum.
struct Nats {
    double sum = 0;
    std::int64_t tokens = 0;
    int nodes = 0;
};

enum class Dependencies { ascending, reuse };
ASSAY_NAMES(Dependencies, ascending, reuse)

struct XContext : Recorded {
    Dependencies order{};
};

void run(const XContext& settings, Recorder& recorder) {
    const bool reuse = settings.order == Dependencies::reuse;
    Counts of_drawn;
    for (PlanRecord plan : draw_plans(plan_shape("mixed"), drawn, settings.seed)) {
        if (reuse) plan = ordered_for_reuse(std::move(plan));
        const Schedule each = schedule(plan, {}, {.warm = true});
        of_drawn.prompt += each.prompt_tokens;
        of_drawn.recomputed += each.recomputed_tokens;
    }
    recorder.metric("drawn_recomputed_fraction", of_drawn.fraction());

    const LiveModel model;
    auto questions = recorded_tokens(settings.answers(), model.tokenizer());
    std::vector<PlanRecord> ordered;
    for (QuestionTokens& question : questions) {
        ordered.push_back(ordered_for_reuse(question.plan));
        if (reuse) question.plan = ordered.back();
    }
    const LiveRun run = model.run(questions, {.concurrency = at_once});
    Counts counts;
    Nats nats;
    for (std::size_t q = 0; q < questions.size(); ++q) {
        counts.prompt += run.answers[q].prompt_tokens;
        counts.recomputed += run.answers[q].recomputed_tokens;
        for (std::size_t i = 0; i < questions[q].nodes.size(); ++i) {
            const NodeRecord& node = ordered[q].nodes[i];
            if (node.in_prompt() == node.dependencies) continue;
            ++nats.nodes;
            for (const double each : run.answers[q].nodes[i].log_probabilities) {
                nats.sum -= each;
                ++nats.tokens;
            }
        }
    }
    recorder.metric("recomputed_fraction", counts.fraction());
    recorder.metric("reordered_nodes", nats.nodes);
    recorder.metric("reordered_nats",
                    nats.tokens > 0 ? nats.sum / static_cast<double>(nats.tokens) : 0);
}

}  // namespace

Experiment x_context() {
    using enum Direction;
    Declaration<XContext> context(
        {.id = "plato/x_context",
         .title = "The order of dependencies in prompts",
         .source = "our own; the paper's prompts are not known",
         .says = "ascending: as the plan numbers them. reuse: first those with which a "
                 "dependency's own prompt began, then it, then the others. What is computed again "
                 "of the recorded answers' prompts (datasets/plans; L2, static parts cached) and "
                 "of 200 drawn mixed plans; and how well SmolLM2-135M-Instruct foresees the "
                 "recorded text of the nodes whose order differs.",
         .metrics = {{"recomputed_fraction", "share", "of prompt tokens of the recorded answers",
                      lower, true},
                     {"drawn_recomputed_fraction", "share", "… of drawn plans; no model", lower,
                      true},
                     {"reordered_nodes", "count", "recorded nodes whose order differs", none, true},
                     {"reordered_nats", "nats/token",
                      "of their recorded text; 0 where there are none", lower, true}},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "drawn_recomputed_fraction",
                    .x = "records",
                    .panels = {},
                    .x_title = "recorded answers",
                    .y_title = "prompt tokens computed again"}});
    declare_recorded(context, 30, 90);
    context.variants(&XContext::order);
    return context.runs(run);
}

}  // namespace assay::plato
