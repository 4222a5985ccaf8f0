// Plans without text, drawn at random: what is published of the paper's plans is no number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "impls/plato/policy/plan_record.hpp"

namespace assay::plato {

/// How the nodes of a plan depend on each other: an edge from each of the four nodes before a node
/// with probability `edge`; with `closing` a last node that depends on each other with .6.
struct PlanShape {
    double edge = 0;
    double closing = 0;
    bool chain = false;  ///< instead: every node on the one before
};

/// "flat" (no edge), "mixed" (.35, closing .7), "chain", "density:P" (P). Throws UserError.
PlanShape plan_shape(std::string_view name);

/// 4 to 9 nodes, answers of 40 to 140 tokens, lines of 12 to 22, leads of 8 to 16, a question of 20
/// to 90; 500 tokens before the planner's question, 120 before a node's. One seed, one set.
std::vector<PlanRecord> draw_plans(const PlanShape& shape, int count, std::uint64_t seed);

}  // namespace assay::plato
