// A plan in numbers: what of it a schedule depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::plato {

/// Nodes are numbered from 1, as in plans; `nodes[i - 1]` is node i.
struct NodeRecord {
    std::int64_t line_tokens = 1;        ///< of its line in the plan
    std::int64_t lead_tokens = 1;        ///< of what introduces it in a prompt: "section i: TITLE"
    std::int64_t out_tokens = 1;         ///< of its part of the answer
    std::vector<int> dependencies;       ///< ascending, each below its own number
    std::vector<int> context = {};       ///< the same in the order of its prompt; empty: ascending
    std::optional<int> difficulty = {};  ///< 1 to 5, as the planner estimates it
    std::optional<std::string> text = {};  ///< of its part of the answer, where it was recorded

    const std::vector<int>& in_prompt() const { return context.empty() ? dependencies : context; }
};

struct PlanRecord {
    std::string id;
    std::int64_t question_tokens = 0;
    std::int64_t static_plan_tokens = 0;  ///< of what the planner's prompt begins with
    std::int64_t static_node_tokens = 0;  ///< of what every node's prompt begins with
    std::int64_t ar_tokens = 0;           ///< of an answer without a plan
    std::vector<NodeRecord> nodes;

    int size() const { return static_cast<int>(nodes.size()); }
    const NodeRecord& node(int number) const { return nodes[static_cast<std::size_t>(number - 1)]; }
};

/// With a last node that depends on all others, for an answer that closes coherently (option
/// closing_node of the specification): no line of the plan announces it, its end does. The answer
/// without a plan is as long as before.
inline PlanRecord with_closing_node(PlanRecord plan, std::int64_t lead_tokens,
                                    std::int64_t out_tokens) {
    NodeRecord closing{
        .line_tokens = 0, .lead_tokens = lead_tokens, .out_tokens = out_tokens, .dependencies = {}};
    for (int number = 1; number <= plan.size(); ++number) closing.dependencies.push_back(number);
    plan.nodes.push_back(std::move(closing));
    return plan;
}

}  // namespace assay::plato
