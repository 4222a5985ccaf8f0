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

std::vector<int> first_of(const std::vector<int>& ids, std::int64_t tokens) {
    return {ids.begin(), ids.begin() + tokens};
}

/// Of Skeleton-of-Thought's prompts, which share no segment but the question with those of other
/// modes, so that theirs may begin with the same tokens.
void add_skeletons(std::vector<QuestionTokens>& questions, int vocabulary, std::uint64_t seed) {
    SegmentIds segments(vocabulary, seed + 1);
    std::int64_t longest_skeleton = 0, longest_point = 0;
    for (const QuestionTokens& question : questions) {
        const PlanRecord plan = skeleton_of(question.plan);
        longest_skeleton = std::max(longest_skeleton, plan.static_plan_tokens);
        longest_point = std::max(longest_point, plan.static_node_tokens);
    }
    const std::vector<int> skeleton = segments.next(longest_skeleton),
                           point = segments.next(longest_point);
    for (QuestionTokens& question : questions) {
        const PlanRecord plan = skeleton_of(question.plan);
        question.static_skeleton = first_of(skeleton, plan.static_plan_tokens);
        question.static_point = first_of(point, plan.static_node_tokens);
        for (std::size_t i = 0; i < question.nodes.size(); ++i)
            question.nodes[i].point = segments.next(plan.nodes[i].lead_tokens);
    }
}

std::vector<int> repeated(std::vector<int> ids, std::int64_t tokens) {
    const std::size_t once = ids.size();
    ids.resize(static_cast<std::size_t>(tokens));
    for (std::size_t i = once; i < ids.size(); ++i) ids[i] = ids[i - once];
    return ids;
}

TokenNeed need_of(const PlanRecord& plan, bool skeleton) {
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
        sequence(shared + (skeleton ? lines : context) + node.lead_tokens + node.out_tokens);
    }
    return need;
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
        QuestionTokens question{.plan = plan,
                                .static_plan = first_of(static_plan, plan.static_plan_tokens),
                                .static_node = first_of(static_node, plan.static_node_tokens),
                                .question = segments.next(plan.question_tokens),
                                .nodes = {}};
        for (const NodeRecord& node : plan.nodes) {
            std::vector<int> line = segments.next(node.line_tokens);
            question.nodes.push_back(
                {.line = std::move(line), .lead = segments.next(node.lead_tokens), .answer = {}});
        }
        questions.push_back(std::move(question));
    }
    add_skeletons(questions, vocabulary, seed);
    return questions;
}

std::vector<QuestionTokens> as_asked(std::vector<QuestionTokens> questions, Mode mode) {
    if (mode != Mode::sot) return questions;
    for (QuestionTokens& question : questions) {
        question.plan = skeleton_of(std::move(question.plan));
        question.static_plan = question.static_skeleton;
        question.static_node = question.static_point;
        for (std::size_t i = 0; i < question.nodes.size(); ++i) {
            QuestionTokens::Node& node = question.nodes[i];
            node.lead = node.point;
            if (question.plan.nodes[i].line_tokens > 0) node.line = node.point;
        }
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
            std::vector<int> ids = tokenizer.encode_named(
                fmt::format("plan \"{}\": a node's text", question.plan.id), *node.text);
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
                           static_node = tokenizer.encode(node_instruction()),
                           static_skeleton = tokenizer.encode(skeleton_instruction()),
                           static_point = tokenizer.encode(point_instruction());
    for (const RecordedAnswer& answer : answers) {
        const auto encode = [&](const std::string& text) {
            return tokenizer.encode_named(fmt::format("record \"{}\"", answer.id), text);
        };
        QuestionTokens question{.plan = {.id = answer.id, .nodes = {}},
                                .static_plan = static_plan,
                                .static_node = static_node,
                                .question = encode(question_text(answer.question)),
                                .nodes = {},
                                .static_skeleton = static_skeleton,
                                .static_point = static_point};
        std::set<int> begun;
        for (std::size_t i = 0; i < answer.plan.size(); ++i) {
            const PlannedNode& node = answer.plan[i];
            const int number = static_cast<int>(i) + 1;
            const std::string text = answer_text(answer.answers[i]);
            const std::vector<int> lead = encode(lead_text(number, node.title));
            const QuestionTokens::Node& tokens = question.nodes.emplace_back(
                QuestionTokens::Node{.line = encode(line_text(number, node)),
                                     .lead = lead,
                                     .answer = encode(text),
                                     .point = lead});
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
                                           .text = text,
                                           .point_tokens = count(tokens.point)});
            question.plan.ar_tokens += count(tokens.answer);
        }
        question.plan.question_tokens = count(question.question);
        question.plan.static_plan_tokens = count(static_plan);
        question.plan.static_node_tokens = count(static_node);
        question.plan.static_skeleton_tokens = count(static_skeleton);
        question.plan.static_point_tokens = count(static_point);
        questions.push_back(std::move(question));
    }
    return questions;
}

TokenNeed token_need(const QuestionTokens& question) {
    const TokenNeed with = need_of(question.plan, false),
                    of_skeleton = need_of(skeleton_of(question.plan), true);
    return {.longest = std::max(with.longest, of_skeleton.longest),
            .all = std::max(with.all, of_skeleton.all)};
}

}  // namespace assay::plato
