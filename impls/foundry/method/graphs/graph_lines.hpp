// Graphs as text, a line of JSON each:
//
//     {"batch": 8, "nodes": [{"type": "kernel", "image": "<SHA-256>", "name": "k", "grid": [1,1,1],
//      "block": [32,1,1], "smem": 0, "attrs": {"cluster": [2,1,1]}, "params": "00ff"},
//      {"type": "memset", "fields": {"dst": 105553116266496}}], "edges": [[0,1], [0,1,0,0,0]]}
//
// An edge is [from, to] or [from, to, from_port, to_port, type].
#pragma once

#include <cstddef>
#include <istream>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

class GraphReader {
  public:
    /// `name` is what errors call the text.
    GraphReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

    /// The next graph, its edges in rising order; nullopt at the end. Throws UserError, "FILE:LINE:
    /// …", for what is no such graph: an unsupported node, an edge that leads nowhere or stands
    /// twice, a cycle, a batch that an earlier graph has; at the end where there was no graph.
    std::optional<Graph> next();

    /// The line of the last graph, for errors of the caller's.
    std::size_t line() const { return line_; }
    const std::string& name() const { return name_; }

  private:
    std::istream& in_;
    std::string name_;
    std::size_t line_ = 0;
    std::map<std::int64_t, std::size_t> lines_of_;  ///< by batch
};

/// Of every graph.
std::vector<Graph> read_graphs(std::istream& in, const std::string& name);

/// Without the newline. What is a default (an edge's ports and type 0) is left out.
std::string to_line(const Graph& graph);

}  // namespace assay::foundry
