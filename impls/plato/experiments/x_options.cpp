// What the options of planning cost or gain: a node that closes the answer, a second model for what
// is easy.
#include <fmt/format.h>

#include <random>

#include "impls/plato/campaign/virtual_answers.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::plato {
namespace {

constexpr int questions = 12, easy_up_to = 2, hardest = 5, closing_lead = 10, closing_tokens = 60;
// As x_faults: a 7B model on an H200, about; the second model's steps take a quarter of it.
constexpr double step_s = 3.1e-3, token_s = 1e-5, small_factor = 0.25;

enum class Option { plain, closing_node, adaptive_model };
ASSAY_NAMES(Option, plain, closing_node, adaptive_model)

struct XOptions : PlanSet {
    std::uint64_t seed = 1;
    Option option{};
};

VirtualOutcome answered(const XOptions& settings, Option option) {
    auto plans = draw_plans(plan_shape(settings.plans), questions, settings.seed);
    std::mt19937_64 random(settings.seed);
    for (PlanRecord& plan : plans) {
        for (NodeRecord& node : plan.nodes)
            node.difficulty = 1 + static_cast<int>(random() % hardest);
        if (option == Option::closing_node)
            plan = with_closing_node(std::move(plan), closing_lead, closing_tokens);
    }
    VirtualSetup setup;
    setup.vocabulary = 20000;
    setup.context = 4096;
    setup.questions = drawn_tokens(plans, setup.vocabulary, settings.seed);
    setup.come_s.assign(questions, 0);
    setup.max_batch = 64;
    for (const QuestionTokens& question : setup.questions)
        setup.blocks += static_cast<int>(token_need(question).all) / 16 + 40;
    setup.cost = {.fixed_s = step_s, .token_s = token_s};
    if (option == Option::adaptive_model) {
        setup.adaptive.easy_up_to = easy_up_to;
        setup.small_engines = 1;
        setup.small_factor = small_factor;
    }
    return answer_virtually(setup);
}

void run(const XOptions& settings, Recorder& recorder) {
    const VirtualOutcome plain = answered(settings, Option::plain);
    const VirtualOutcome with =
        settings.option == Option::plain ? plain : answered(settings, settings.option);
    recorder.metric("time_ratio", with.seconds / plain.seconds);
    recorder.metric("computed_ratio", static_cast<double>(with.computed_tokens) /
                                          static_cast<double>(plain.computed_tokens));
}

}  // namespace

Experiment x_options() {
    using enum Direction;
    Declaration<XOptions> options(
        {.id = "plato/x_options",
         .title = "A closing node, a second model",
         .source = "arXiv 2402.12280v1, abstract, for the second model; the closing node is ours",
         .says = fmt::format(
             "{} questions at once on one engine in virtual time ({} ms a step, {} more for each "
             "token). closing_node: a last node of {} tokens that depends on all others. "
             "adaptive_model: nodes whose drawn difficulty is at most {} of {} are decoded by a "
             "second engine, whose steps take {} of the time; its prompts are computed there anew. "
             "What it does to quality is not looked at.",
             questions, 1e3 * step_s, 1e3 * token_s, closing_tokens, easy_up_to, hardest,
             small_factor),
         .metrics = {{"time_ratio", "ratio", "over the time without the option", lower, true},
                     {"computed_ratio", "ratio", "tokens fed to engines over those without", lower,
                      true}},
         .profiles = virtual_profiles(),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "time_ratio",
                    .x = "plans",
                    .panels = {},
                    .x_title = "plans",
                    .y_title = "time over that without"}});
    options.part(drawn_plans_axes());
    options.variants(&XOptions::option);
    options.given(&XOptions::seed, &SampleSpec::seed);
    return options.runs(run);
}

}  // namespace assay::plato
