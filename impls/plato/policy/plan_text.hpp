// The plan that a model writes, line by line, read while it is being written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plato {

/// A part of the answer.
struct PlannedNode {
    std::string title;
    std::vector<int> dependencies;  ///< positions of nodes before it, from 1, ascending
    std::optional<int> difficulty;  ///< 1 to 5, where the plan says it
};

/// Reads a plan as a person would, line by line: "NUMBER. TITLE | deps: LIST", after which
/// "| d: 1…5" may follow, up to a line "END". Usual ways to write numbers and lists mean what they
/// say ("Step 3:", "1)", "1 and 2", "1-3", "none"); a line that is no node is passed over and
/// changes no other. Nothing that a model writes is an error: what is not as asked for is warned
/// of. (The grammar is ours: the paper's prompts are not known. The README lists its rules.)
class PlanParser {
  public:
    static constexpr int most_nodes = 10;

    /// Text as it comes, cut anywhere. What follows "END" is ignored.
    void feed(std::string_view text);
    /// No more text comes: the last line counts without a line feed.
    void finish();

    /// Those announced so far: a node is, once its line is out.
    const std::vector<PlannedNode>& nodes() const { return nodes_; }
    bool ended() const { return ended_; }

    /// A sentence for each line warned of: "warning: line 3: node 2: …", its number as written.
    const std::vector<std::string>& warnings() const { return warnings_; }
    int repaired() const { return static_cast<int>(warnings_.size()); }
    /// A sentence for each dependency dropped, on the node itself or one that is not before it.
    const std::vector<std::string>& dropped_dependencies() const { return dropped_; }
    int dropped_nodes() const { return dropped_nodes_; }  ///< lines of nodes after most_nodes
    bool truncated() const { return truncated_; }  ///< neither END nor a line feed is the last
    /// There is no plan: the question is to be answered without one.
    bool fallback() const { return ended_ && nodes_.empty(); }

  private:
    void take_line(std::string_view line);
    void drop_unless_before(std::int64_t number, std::int64_t own);

    std::vector<PlannedNode> nodes_;
    std::vector<std::int64_t> numbers_;  // of nodes_, as they were written
    std::string line_;
    int line_number_ = 0;
    bool ended_ = false, truncated_ = false;
    std::vector<std::string> warnings_, dropped_;
    int dropped_nodes_ = 0;
};

}  // namespace assay::plato
