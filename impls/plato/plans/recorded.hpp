// Answers that were recorded with their plans, as text: what people write, or a model wrote.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "impls/plato/policy/plan_text.hpp"

namespace assay::plato {

struct RecordedAnswer {
    std::string id, question;
    std::vector<PlannedNode> plan;
    std::vector<std::string> answers;  ///< [number - 1], of nodes
};

/// One digit is a token of its own in the models that we know, so that titles begin differently.
constexpr int most_recorded_nodes = 9;

/// As text: "## ID", the question, "### plan", lines of a plan as models write them up to "END",
/// "### 1" and the answer of node 1, and so on; what stands before the first "##" is a comment. Or
/// as JSON lines: {"id","question","nodes":[{"title","deps",["d"],"answer"}]}. Plans are to be
/// right: nothing is mended. `name`: of the file, for messages. Throws UserError, "NAME:LINE: …".
std::vector<RecordedAnswer> read_recorded(std::istream& in, const std::string& name);

}  // namespace assay::plato
