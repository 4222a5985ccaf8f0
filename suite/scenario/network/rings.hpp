// The rings that collectives go around: node by node and rack by rack, whatever the ranks' numbers
// are, and as many at once as there are network interfaces to use.
#pragma once

#include <span>
#include <vector>

#include "suite/scenario/network/topology.hpp"

namespace assay {

/// Each an order of the members, all of them carrying an equal part of a buffer. There are as many
/// as the members have interfaces on each of their nodes, or on the node that has fewest; ring k
/// comes into every node by interface k. On one node alone: one.
std::vector<std::vector<int>> rings(const Topology&, std::span<const int> members);

}  // namespace assay
