// The plan that a model writes, line by line, read while it is being written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plato {

/// A part of the answer.
struct PlannedNode {
    std::string title;
    std::vector<int> dependencies;  ///< numbers of nodes before it, from 1, ascending
    std::optional<int> difficulty;  ///< 1 to 5, where the plan says it
};

/// Reads lines "INDEX . TITLE | deps: LIST", after which "| d: 1…5" may follow, up to a line "END".
/// Nothing that a model writes is an error: what is no such line becomes a node that depends on the
/// one before it, and what had to be mended is counted. (The grammar is ours: the paper's prompts
/// are not known.)
class PlanParser {
  public:
    static constexpr int most_nodes = 10;

    /// Text as it comes, cut anywhere. What follows "END" is ignored.
    void feed(std::string_view text);
    /// No more text comes: a line that was not finished counts only where it is "END".
    void finish();

    /// Those announced so far: a node is, once its line is out.
    const std::vector<PlannedNode>& nodes() const { return nodes_; }
    bool ended() const { return ended_; }

    int dropped_dependencies() const { return dropped_dependencies_; }  ///< on itself or later ones
    int repaired() const { return repaired_; }            ///< nodes of lines that are none
    int dropped_nodes() const { return dropped_nodes_; }  ///< lines after most_nodes
    bool truncated() const { return truncated_; }         ///< the last line was not finished
    /// There is no plan: the question is to be answered without one.
    bool fallback() const { return ended_ && nodes_.empty(); }

  private:
    void take_line(std::string_view line);

    std::vector<PlannedNode> nodes_;
    std::string line_;
    bool ended_ = false, truncated_ = false;
    int dropped_dependencies_ = 0, repaired_ = 0, dropped_nodes_ = 0;
};

}  // namespace assay::plato
