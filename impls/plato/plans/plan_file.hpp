// Plans in numbers, as a file: a JSON object a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "impls/plato/policy/plan_record.hpp"

namespace assay::plato {

constexpr std::int64_t most_tokens = 1'000'000;  ///< of any count in a plan
constexpr std::size_t most_nodes_of_record = 1'000;

/// {"id","question_tokens","static_plan_tokens","static_node_tokens",["static_skeleton_tokens",
/// "static_point_tokens","ar_tokens","seed"],"nodes":[{"i","line_tokens","lead_tokens",
/// "out_tokens","deps",["text","point_tokens"]}]}; blank lines are skipped.
/// `name`: of the file, for messages. Without ar_tokens an answer without a plan is as long as all
/// nodes' together. Throws UserError, "NAME:LINE: …".
std::vector<PlanRecord> read_plans(std::istream& in, const std::string& name);

}  // namespace assay::plato
