// When two graphs may share a template. The key that the public code has, and one that covers all
// that an update of an executable graph does not carry over.
#pragma once

#include <string>

#include "impls/foundry/method/graphs/graph.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry {

/// paper: the nodes' types in their order, and each kernel's cluster (specification 3.8). strong:
/// kernels' other attributes, whether a memset or memcpy has more than one row, and the edges as a
/// set, too.
enum class Key { paper, strong };
ASSAY_NAMES(Key, paper, strong)

/// Equal for graphs that a key takes for one topology; bytes, no text.
std::string topology_key(const Graph& graph, Key key);

inline std::string strong_key(const Graph& graph) { return topology_key(graph, Key::strong); }

/// Which graphs can share one executable that is updated to each: of one strong key and the same
/// kernels, whatever their grids and parameters (SGLang, pull requests 29625 and 39176).
std::string kernel_signature(const Graph& graph);

}  // namespace assay::foundry
