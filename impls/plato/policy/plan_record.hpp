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
    /// Of its line in the skeleton of Skeleton-of-Thought, "2. TITLE", which introduces it in
    /// prompts there, too; absent: lead_tokens.
    std::optional<std::int64_t> point_tokens = {};

    const std::vector<int>& in_prompt() const { return context.empty() ? dependencies : context; }
};

struct PlanRecord {
    std::string id;
    std::int64_t question_tokens = 0;
    std::int64_t static_plan_tokens = 0;  ///< of what the planner's prompt begins with
    std::int64_t static_node_tokens = 0;  ///< of what every node's prompt begins with
    std::int64_t ar_tokens = 0;           ///< of an answer without a plan
    std::vector<NodeRecord> nodes;
    /// What Skeleton-of-Thought's request for a skeleton begins with, and that for a point; absent:
    /// static_plan_tokens and static_node_tokens.
    std::optional<std::int64_t> static_skeleton_tokens = {}, static_point_tokens = {};

    int size() const { return static_cast<int>(nodes.size()); }
    const NodeRecord& node(int number) const { return nodes[static_cast<std::size_t>(number - 1)]; }
};

/// As Skeleton-of-Thought has it, which pays for none of Plato's syntax: its own instructions, and
/// its own lines, which name no dependencies. A node without a line has none there either. Of such
/// a plan the same plan.
inline PlanRecord skeleton_of(PlanRecord plan) {
    plan.static_plan_tokens = plan.static_skeleton_tokens.value_or(plan.static_plan_tokens);
    plan.static_node_tokens = plan.static_point_tokens.value_or(plan.static_node_tokens);
    for (NodeRecord& node : plan.nodes) {
        node.lead_tokens = node.point_tokens.value_or(node.lead_tokens);
        if (node.line_tokens > 0) node.line_tokens = node.lead_tokens;
    }
    return plan;
}

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
