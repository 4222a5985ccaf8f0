// A small model writes plans itself, with the grammar as a mask over its tokens and without.
#include <algorithm>
#include <map>
#include <memory>

#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/recorded_plans.hpp"
#include "impls/plato/live/prompt_texts.hpp"
#include "impls/plato/policy/plan_grammar.hpp"
#include "impls/plato/policy/plan_text.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::plato {
namespace {

constexpr int most_plan_tokens = 400;  // more than nine lines of sixty bytes have

/// The plan that a model writes to a question.
struct Plan {
    std::vector<int> prompt;
    std::string text;
    int tokens = 0;
    PlanGrammar grammar;
    PlanParser parser;

    bool open() const { return !parser.ended() && tokens < most_plan_tokens; }
};

class Planner {
  public:
    Planner(const LiveModel& model, const std::vector<RecordedAnswer>& answers)
        : tokenizer_(model.tokenizer()) {
        int longest = 0;
        for (const RecordedAnswer& answer : answers) {
            Plan& plan = plans_.emplace_back();
            plan.prompt = tokenizer_.encode_named(
                "record \"" + answer.id + "\"",
                std::string(planner_instruction()) + question_text(answer.question));
            longest = std::max(longest, static_cast<int>(plan.prompt.size()));
        }
        const int count = static_cast<int>(answers.size());
        const int blocks = count * ((longest + most_plan_tokens) / decode::block_positions + 3);
        engine_ = std::make_unique<decode::BatchEngine>(
            model.back_end(blocks), decode::BatchOptions{.max_batch = count, .chunk = 512});
        for (int id = 0; id < tokenizer_.size(); ++id)
            texts_.push_back(tokenizer_.bytes_of(id) > 0 ? tokenizer_.decode({&id, 1})
                                                         : std::string());
        for (const int id : nn::text_ends(model.file(), &tokenizer_, tokenizer_.size()))
            texts_[static_cast<std::size_t>(id)].clear();
    }

    /// A token a step for every plan that is not finished: what may come next depends on what came.
    std::vector<Plan> run(bool masked) {
        while (std::any_of(plans_.begin(), plans_.end(), [](const Plan& p) { return p.open(); })) {
            std::map<decode::RequestId, Plan*> asked;
            for (Plan& plan : plans_) {
                if (!plan.open()) continue;
                decode::BatchRequest request{.prompt = plan.prompt, .max_tokens = 1};
                if (masked) request.allowed = allowed(plan.grammar);
                asked[engine_->submit(request)] = &plan;
            }
            decode::StepReport report;
            while (!engine_->idle()) engine_->step(report);
            for (const decode::MadeToken& token : report.tokens)
                take(*asked.at(token.request), token.id);
        }
        for (Plan& plan : plans_) plan.parser.finish();
        return std::move(plans_);
    }

  private:
    std::vector<std::uint64_t> allowed(const PlanGrammar& grammar) const {
        std::vector<std::uint64_t> mask((texts_.size() + 63) / 64);
        for (std::size_t id = 0; id < texts_.size(); ++id) {
            PlanGrammar further = grammar;
            if (!texts_[id].empty() && further.take(texts_[id]))
                mask[id / 64] |= std::uint64_t{1} << id % 64;
        }
        return mask;
    }
    void take(Plan& plan, int id) const {
        const std::string& text = texts_[static_cast<std::size_t>(id)];
        plan.prompt.push_back(id);
        ++plan.tokens;
        plan.text += text;
        plan.grammar.take(text);
        plan.parser.feed(text);
        // What ends a text ends the plan.
        if (text.empty()) plan.parser.finish();
    }

    const nn::Tokenizer& tokenizer_;
    std::unique_ptr<decode::BatchEngine> engine_;
    std::vector<std::string> texts_;  // by id; of special tokens: empty
    std::vector<Plan> plans_;
};

int depth(const PlanParser& plan) {
    std::vector<int> depths;
    int most = 0;
    for (const PlannedNode& node : plan.nodes()) {
        int of_node = 1;
        for (const int before : node.dependencies)
            of_node = std::max(of_node, depths[static_cast<std::size_t>(before - 1)] + 1);
        depths.push_back(of_node);
        most = std::max(most, of_node);
    }
    return most;
}

enum class Tokens { free, grammar };
ASSAY_NAMES(Tokens, free, grammar)

struct XPlanner : Recorded {
    Tokens tokens{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric valid_share = exact("valid_share", "share", "of plans", higher);
    Metric fallback_share = exact("fallback_share", "share", "of plans without any node", lower);
    Metric mended_per_plan =
        exact("mended_per_plan", "count", "lines warned of, dependencies and lines dropped", lower);
    Metric nodes = exact("nodes", "count", "of a plan: mean");
    Metric edges_per_node = exact("edges_per_node", "count", "dependencies: mean");
    Metric parallelism =
        exact("parallelism", "ratio", "nodes over the longest chain of them: mean");
    Metric plan_tokens = exact("plan_tokens", "count", "of a plan: mean", lower);
};

void run(const XPlanner& settings, Recorder& recorder) {
    const LiveModel model;
    const auto answers = settings.answers();
    const auto plans = Planner(model, answers).run(settings.tokens == Tokens::grammar);
    double valid = 0, nodes = 0, edges = 0, mended = 0, fallback = 0, tokens = 0, parallel = 0;
    std::vector<std::vector<Value>> rows;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const PlanParser& plan = plans[i].parser;
        const int wrong = plan.repaired() + plan.dropped_nodes() +
                          static_cast<int>(plan.dropped_dependencies().size());
        const auto count = static_cast<double>(plan.nodes().size());
        valid += wrong == 0 && !plan.truncated() && count >= PlanGrammar::least_nodes ? 1 : 0;
        nodes += count;
        mended += wrong;
        fallback += plan.fallback() ? 1 : 0;
        tokens += plans[i].tokens;
        for (const PlannedNode& node : plan.nodes())
            edges += static_cast<double>(node.dependencies.size());
        parallel += plan.nodes().empty() ? 1 : count / depth(plan);
        rows.push_back({Value(answers[i].id), Value(plans[i].text)});
    }
    const auto all = static_cast<double>(plans.size());
    const Found found(recorder);
    found.valid_share(valid / all);
    found.fallback_share(fallback / all);
    found.mended_per_plan(mended / all);
    found.nodes(nodes / all);
    found.edges_per_node(nodes > 0 ? edges / nodes : 0);
    found.parallelism(parallel / all);
    found.plan_tokens(tokens / all);
    recorder.table("plans", std::vector<TableColumn>{{"id", ""}, {"plan", ""}}, rows);
}

}  // namespace

Experiment x_planner() {
    Declaration<XPlanner> planner(
        {.id = "plato/x_planner",
         .title = "A small model plans",
         .source = "our own; the paper's planner prompts are not known",
         .says = "SmolLM2-135M-Instruct writes plans of its own to the recorded questions "
                 "(datasets/plans), greedily, behind an instruction with two examples. free: "
                 "whatever it says, read as a person would. grammar: only tokens "
                 "with which the text can still become a plan. A plan is valid where nothing is "
                 "warned of or cut off and it has at least three nodes.",
         .metrics = declared<Found>(),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "valid_share",
                    .x = "records",
                    .panels = {},
                    .x_title = "recorded questions",
                    .y_title = "plans with nothing to mend"}});
    declare_recorded(planner, 12, 60);
    planner.variants(&XPlanner::tokens);
    return planner.runs(run);
}

}  // namespace assay::plato
