#include "impls/plato/policy/prompts.hpp"

#include <algorithm>
#include <numeric>

namespace assay::plato {

std::int64_t tokens_of(const Segments& segments) {
    return std::accumulate(
        segments.begin(), segments.end(), std::int64_t{0},
        [](std::int64_t sum, const Segment& segment) { return sum + segment.tokens; });
}

Segments prompt_of(const PlanRecord& plan, Mode mode, int node) {
    using enum Segment::Kind;
    Segments prompt = {{instruction, 0, plan.static_node_tokens},
                       {question, 0, plan.question_tokens}};
    if (mode == Mode::sot) {
        for (int line = 1; line <= plan.size(); ++line)
            prompt.push_back({outline, line, plan.node(line).line_tokens});
    } else {
        for (const int before : plan.node(node).in_prompt()) {
            prompt.push_back({lead, before, plan.node(before).lead_tokens});
            prompt.push_back({answer, before, plan.node(before).out_tokens});
        }
    }
    prompt.push_back({lead, node, plan.node(node).lead_tokens});
    return prompt;
}

std::int64_t common_prefix(const Segments& a, const Segments& b) {
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i].same_text(b[i]); ++i) {
        tokens += std::min(a[i].tokens, b[i].tokens);
        if (a[i].tokens != b[i].tokens) break;
    }
    return tokens;
}

PromptCache::PromptCache(const PlanRecord& plan, Mode mode, KvReuse reuse, bool warm)
    // Skeleton-of-Thought's nodes depend on none: there is nothing to link.
    : plan_(plan),
      reuse_(reuse == KvReuse::linked && mode == Mode::sot ? KvReuse::prefix : reuse),
      longest_prefix_(plan.nodes.size(), 0),
      shared_(warm ? plan.static_node_tokens : 0) {
    for (int node = 1; node <= plan.size(); ++node) prompts_.push_back(prompt_of(plan, mode, node));
    if (warm) keep({{Segment::Kind::instruction, 0, plan.static_node_tokens}});
}

std::int64_t PromptCache::cached_tokens(int node) const {
    switch (reuse_) {
        case KvReuse::none:
            return 0;
        case KvReuse::shared:
            return shared_;
        case KvReuse::prefix:
            return longest_prefix_[static_cast<std::size_t>(node - 1)];
        case KvReuse::linked:
            break;
    }
    // A linked answer's last token has no keys and values yet: it is read with what follows.
    std::int64_t linked = shared_;
    for (const int before : plan_.node(node).dependencies)
        linked += plan_.node(before).lead_tokens + plan_.node(before).out_tokens - 1;
    return linked;
}

std::int64_t PromptCache::start(int node) {
    const std::int64_t computed = prompt_tokens(node) - cached_tokens(node);
    shared_ = plan_.static_node_tokens + plan_.question_tokens;
    keep(prompt(node));
    return computed;
}

void PromptCache::finish(int node) {
    Segments sequence = prompt(node);
    sequence.push_back({Segment::Kind::answer, node, plan_.node(node).out_tokens - 1});
    keep(sequence);
}

void PromptCache::keep(const Segments& sequence) {
    if (reuse_ != KvReuse::prefix) return;
    for (std::size_t i = 0; i < prompts_.size(); ++i)
        longest_prefix_[i] = std::max(longest_prefix_[i], common_prefix(prompts_[i], sequence));
}

}  // namespace assay::plato
