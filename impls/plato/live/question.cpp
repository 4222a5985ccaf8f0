#include "impls/plato/live/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "impls/plato/live/prompt_texts.hpp"
#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

/// Below are the special tokens of most vocabularies.
constexpr int first_drawn = 64;

class SegmentIds {
  public:
    SegmentIds(int vocabulary, std::uint64_t seed)
        : first_(std::min(first_drawn, vocabulary / 4)), vocabulary_(vocabulary), random_(seed) {}

    /// Begins with a token that no segment of this began with.
    std::vector<int> next(std::int64_t tokens) {
        const int own = first_ + begun_++;
        if (own >= vocabulary_)
            throw UserError(
                "the plans have more segments than the model has tokens that they could begin "
                "with; give fewer plans");
        std::vector<int> ids;
        if (tokens > 0) ids.push_back(own);
        while (static_cast<std::int64_t>(ids.size()) < tokens) ids.push_back(any());
        return ids;
    }

  private:
    int any() {
        return first_ +
               static_cast<int>(random_() % static_cast<std::uint64_t>(vocabulary_ - first_));
    }

    int first_, vocabulary_, begun_ = 0;
    std::mt19937_64 random_;
};

std::vector<int> repeated(std::vector<int> ids, std::int64_t tokens) {
    const std::size_t once = ids.size();
    ids.resize(static_cast<std::size_t>(tokens));
    for (std::size_t i = once; i < ids.size(); ++i) ids[i] = ids[i - once];
    return ids;
}

}  // namespace

std::vector<QuestionTokens> drawn_tokens(const std::vector<PlanRecord>& plans, int vocabulary,
                                         std::uint64_t seed) {
    SegmentIds segments(vocabulary, seed);
    // The same for all; of each plan as much as it has.
    std::int64_t longest_plan = 0, longest_node = 0;
    for (const PlanRecord& plan : plans) {
        longest_plan = std::max(longest_plan, plan.static_plan_tokens);
        longest_node = std::max(longest_node, plan.static_node_tokens);
    }
    const std::vector<int> static_plan = segments.next(longest_plan),
                           static_node = segments.next(longest_node);
    std::vector<QuestionTokens> questions;
    for (const PlanRecord& plan : plans) {
        if (plan.question_tokens < 1)
            throw UserError(fmt::format(
                "plan \"{}\": without question_tokens there is nothing to decode from", plan.id));
        QuestionTokens question{
            .plan = plan,
            .static_plan = {static_plan.begin(), static_plan.begin() + plan.static_plan_tokens},
            .static_node = {static_node.begin(), static_node.begin() + plan.static_node_tokens},
            .question = segments.next(plan.question_tokens),
            .nodes = {}};
        for (const NodeRecord& node : plan.nodes) {
            std::vector<int> line = segments.next(node.line_tokens);
            question.nodes.push_back(
                {.line = std::move(line), .lead = segments.next(node.lead_tokens), .answer = {}});
        }
        questions.push_back(std::move(question));
    }
    return questions;
}

std::vector<QuestionTokens> drawn_tokens(const std::vector<PlanRecord>& plans,
                                         const nn::Tokenizer& tokenizer, std::uint64_t seed) {
    auto questions = drawn_tokens(plans, tokenizer.size(), seed);
    for (QuestionTokens& question : questions)
        for (std::size_t i = 0; i < question.nodes.size(); ++i) {
            const NodeRecord& node = question.plan.nodes[i];
            if (!node.text) continue;
            std::vector<int> ids = tokenizer.encode(*node.text);
            if (ids.empty())
                throw UserError(
                    fmt::format("plan \"{}\": a node's text is empty", question.plan.id));
            question.nodes[i].answer = repeated(std::move(ids), node.out_tokens);
        }
    return questions;
}

std::vector<QuestionTokens> recorded_tokens(const std::vector<RecordedAnswer>& answers,
                                            const nn::Tokenizer& tokenizer) {
    std::vector<QuestionTokens> questions;
    const auto count = [](const std::vector<int>& ids) {
        return static_cast<std::int64_t>(ids.size());
    };
    const std::vector<int> static_plan = tokenizer.encode(planner_instruction()),
                           static_node = tokenizer.encode(node_instruction());
    for (const RecordedAnswer& answer : answers) {
        QuestionTokens question{.plan = {.id = answer.id, .nodes = {}},
                                .static_plan = static_plan,
                                .static_node = static_node,
                                .question = tokenizer.encode(question_text(answer.question)),
                                .nodes = {}};
        std::set<int> begun;
        for (std::size_t i = 0; i < answer.plan.size(); ++i) {
            const PlannedNode& node = answer.plan[i];
            const int number = static_cast<int>(i) + 1;
            const std::string text = answer_text(answer.answers[i]);
            const QuestionTokens::Node& tokens = question.nodes.emplace_back(
                QuestionTokens::Node{.line = tokenizer.encode(line_text(number, node)),
                                     .lead = tokenizer.encode(lead_text(number, node.title)),
                                     .answer = tokenizer.encode(text)});
            if (tokens.lead.empty() || tokens.answer.empty() ||
                !begun.insert(tokens.lead.front()).second)
                throw UserError(fmt::format(
                    "record \"{}\": with this tokenizer two titles begin with the same token, so "
                    "that what prompts have in common would not end with a title",
                    answer.id));
            question.plan.nodes.push_back({.line_tokens = count(tokens.line),
                                           .lead_tokens = count(tokens.lead),
                                           .out_tokens = count(tokens.answer),
                                           .dependencies = node.dependencies,
                                           .text = text});
            question.plan.ar_tokens += count(tokens.answer);
        }
        question.plan.question_tokens = count(question.question);
        question.plan.static_plan_tokens = count(static_plan);
        question.plan.static_node_tokens = count(static_node);
        questions.push_back(std::move(question));
    }
    return questions;
}

TokenNeed token_need(const QuestionTokens& question) {
    const PlanRecord& plan = question.plan;
    std::int64_t lines = 0;
    for (const NodeRecord& node : plan.nodes) lines += node.line_tokens;
    TokenNeed need;
    const auto sequence = [&](std::int64_t tokens) {
        need.longest = std::max(need.longest, tokens);
        need.all += tokens;
    };
    sequence(plan.static_plan_tokens + plan.question_tokens + lines);
    const std::int64_t shared = plan.static_node_tokens + plan.question_tokens;
    sequence(shared + plan.ar_tokens);
    std::int64_t positions = shared;  // where every node has a range of its own
    for (const NodeRecord& node : plan.nodes) positions += node.lead_tokens + node.out_tokens;
    need.longest = std::max(need.longest, positions);
    for (const NodeRecord& node : plan.nodes) {
        std::int64_t context = 0;
        for (const int before : node.dependencies)
            context += plan.node(before).lead_tokens + plan.node(before).out_tokens;
        // Skeleton-of-Thought has the plan where others have answers.
        sequence(shared + std::max(context, lines) + node.lead_tokens + node.out_tokens);
    }
    return need;
}

}  // namespace assay::plato
