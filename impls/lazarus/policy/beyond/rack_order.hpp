// Which node of a plan stands in which rack: our own answer to losses that are no matter of single
// nodes, of a rack with its switch or power supply, of a zone.
//
// Overlap lays a group of experts on a few neighbouring nodes, and a launcher that numbers nodes
// rack by rack puts all of them into one. What overlap does with experts on nodes is done here once
// more with groups on racks: the nodes of a group stand in as many different racks as there are,
// and groups that do so share their racks, so that few losses of several racks lose a group.
#pragma once

#include <vector>

#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// [node]: what it fails together with, numbered 0, 1, …: its rack, switch, zone.
using RackOf = std::vector<int>;

/// The placement seen by racks, [layer][rack]: every expert that some node of the rack holds, once,
/// ascending. Nodes of a rack that fail as one are one node, so recovery_probability() of this is
/// that of losing whole racks. `placement` by physical node. Throws UserError when a layer and
/// `rack_of` differ in nodes or a rack is negative.
ModelPlacement by_rack(const ModelPlacement& placement, const RackOf& rack_of);

/// Racks whose loss alone loses an expert of some layer.
int fatal_racks(const ModelPlacement& placement, int experts, const RackOf& rack_of);

/// One order for all layers of `plan`, [layer][plan node]: the plan node of each physical node, for
/// apply_mapping(). Of leaving the nodes as they are
/// numbered, dealing them out, and overlapping groups on racks (several ways), the one with the
/// fewest fatal racks, then with the highest probability of surviving the loss of two racks, then
/// of three, and so on. So:
///   - never more fatal racks than as numbered or dealt;
///   - none, where the plan is of overlap with groups of at least two nodes, in one layer or in
///     several, and there are two racks or more of equal size.
/// Racks need not be equal in size (then nothing is overlapped) nor in order. It asks for the plan
/// alone: what nodes already hold, and so what has to travel, is map_nodes()' concern. Throws
/// UserError as by_rack() and recovery_probability() do. Deterministic.
NodeMapping rack_aware_order(const ModelPlacement& plan, int experts, const RackOf& rack_of);

}  // namespace assay::lazarus
