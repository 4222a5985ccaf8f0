#include "impls/plato/live/answering.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay::plato {
namespace {

void append(std::vector<int>& to, const std::vector<int>& ids) {
    to.insert(to.end(), ids.begin(), ids.end());
}

}  // namespace

Answering::Answering(const QuestionTokens& question, const AnswerSettings& settings,
                     PartDecoder& decoder)
    : question_(question),
      settings_(settings),
      decoder_(decoder),
      controller_(settings.mode, settings.order),
      cache_(question.plan, settings.mode, settings.reuse,
             settings.warm && settings.reuse != KvReuse::none),
      parts_(question.nodes.size() + 1) {}

void Answering::begin() {
    PartRequest request;
    if (settings_.mode == Mode::ar) {
        request.prompt = question_.static_node;
        request.tokens = question_.plan.ar_tokens;
        for (const auto& node : question_.nodes) append(request.forced, node.answer);
        // Where it is not the nodes' answers together, or some of them are the model's.
        const bool all = std::all_of(question_.nodes.begin(), question_.nodes.end(),
                                     [](const auto& node) { return !node.answer.empty(); });
        if (!all || static_cast<std::int64_t>(request.forced.size()) != request.tokens)
            request.forced.clear();
    } else {
        request.prompt = question_.static_plan;
        for (const auto& node : question_.nodes) append(request.forced, node.line);
        request.tokens = static_cast<std::int64_t>(request.forced.size());
    }
    append(request.prompt, question_.question);
    if (settings_.reuse == KvReuse::none) request.most_reused = 0;
    start_part(std::move(request));
}

int Answering::most_reused() const {
    if (settings_.reuse == KvReuse::none) return 0;
    const bool whole = settings_.reuse == KvReuse::prefix ||
                       (settings_.reuse == KvReuse::linked && settings_.mode == Mode::sot);
    if (whole) return std::numeric_limits<int>::max();
    return static_cast<int>(question_.static_node.size() + question_.question.size());
}

void Answering::start_part(PartRequest request) {
    Part& started = part(request.part);
    started.wanted = request.tokens;
    started.prompt = static_cast<int>(request.prompt.size());
    ++running_;
    decoder_.start(std::move(request));
}

void Answering::on_step(int room) {
    if (settings_.mode != Mode::ar) controller_.on(StepBegins{room}, *this);
}

void Answering::start(int node) {
    const QuestionTokens::Node& texts = question_.node(node);
    PartRequest request;
    request.part = node;
    request.prompt = question_.static_node;
    append(request.prompt, question_.question);
    add_context(node, request);
    append(request.prompt, texts.lead);
    request.tokens = question_.plan.node(node).out_tokens;
    request.forced = texts.answer;
    request.most_reused = most_reused();
    request.keep = settings_.reuse == KvReuse::linked && settings_.mode != Mode::sot;
    if (request.keep && settings_.positions == LinkPositions::reserved)
        reserve_positions(node, request);
    started_.push_back(node);
    part(node).recomputed = cache_.start(node);
    start_part(std::move(request));
}

/// Between the question and its own lead.
void Answering::add_context(int node, PartRequest& request) const {
    if (settings_.mode == Mode::sot) {
        for (const auto& each : question_.nodes) append(request.prompt, each.line);
        return;
    }
    for (const int before : question_.plan.node(node).in_prompt()) {
        const std::vector<int>& lead = question_.node(before).lead;
        const int at = static_cast<int>(request.prompt.size());
        append(request.prompt, lead);
        append(request.prompt, part(before).tokens);
        if (settings_.reuse != KvReuse::linked) continue;
        // The last token of an answer was never fed: it has no keys and values yet.
        request.links.push_back({.node = before,
                                 .first = part(before).prompt - static_cast<int>(lead.size()),
                                 .count = static_cast<int>(request.prompt.size()) - at - 1,
                                 .at = at});
    }
}

/// Instruction and question as they stand, then a range for every node in the plan's order.
void Answering::reserve_positions(int node, PartRequest& request) const {
    const PlanRecord& plan = question_.plan;
    int position = 0;
    const auto range = [&](std::int64_t tokens) {
        for (std::int64_t i = 0; i < tokens; ++i) request.rotations.push_back(position++);
    };
    range(plan.static_node_tokens + plan.question_tokens);
    const int first = position;
    const auto go_to = [&](int number) {
        position = first;
        for (int before = 1; before < number; ++before)
            position +=
                static_cast<int>(plan.node(before).lead_tokens + plan.node(before).out_tokens);
    };
    for (const int before : plan.node(node).in_prompt()) {
        go_to(before);
        range(plan.node(before).lead_tokens + plan.node(before).out_tokens);
    }
    go_to(node);
    range(plan.node(node).lead_tokens);
}

void Answering::on_token(int number, int id) {
    Part& of = part(number);
    of.tokens.push_back(id);
    if (static_cast<std::int64_t>(of.tokens.size()) > of.wanted)
        throw std::logic_error("a part of an answer has more tokens than were asked for");
    if (number == 0 && settings_.mode != Mode::ar) announce();
}

/// The nodes whose lines are out.
void Answering::announce() {
    const PlanRecord& plan = question_.plan;
    const auto out = static_cast<std::int64_t>(part(0).tokens.size());
    while (announced_ < plan.size()) {
        const NodeRecord& next = plan.node(announced_ + 1);
        if (lines_ + next.line_tokens > out) return;
        lines_ += next.line_tokens;
        ++announced_;
        controller_.on(
            NodeAnnounced{.out_tokens = next.out_tokens, .dependencies = next.dependencies}, *this);
    }
    controller_.on(PlanEnded{}, *this);
}

void Answering::on_ended(int number) {
    Part& of = part(number);
    if (of.ended || static_cast<std::int64_t>(of.tokens.size()) != of.wanted)
        throw std::logic_error("a part of an answer ended early, or twice");
    of.ended = true;
    --running_;
    if (number == 0) return;
    cache_.finish(number);
    controller_.on(NodeFinished{number}, *this);
}

bool Answering::done() const {
    return settings_.mode == Mode::ar ? parts_[0].ended : controller_.done() && running_ == 0;
}

}  // namespace assay::plato
