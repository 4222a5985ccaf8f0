// A graph of the driver's as data (specification 3.6).
#pragma once

#include "impls/foundry/live/images.hpp"
#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

/// Nodes in the order of their creation, edges in rising order. Throws UserError for nodes that
/// cannot be built again (host functions, child graphs, memory nodes …) and kernels of images that
/// were not loaded through `images`; DriverError.
Graph read_graph(const Driver& driver, const Images& images, CUgraph graph, std::int64_t batch);

}  // namespace assay::foundry
