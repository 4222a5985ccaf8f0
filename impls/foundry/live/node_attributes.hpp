// Attributes of a kernel node, between the driver's unions and names with numbers.
#pragma once

#include <string>

#include "impls/foundry/driver/driver_table.hpp"
#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

/// Those that are not what a node has without them, in the order of their names. `untouched`: a
/// node of the same kernel of which none was set. Throws UserError for a node that the device may
/// update by itself: it cannot be built again.
Attributes read_attributes(const Driver& driver, CUgraphNode node, CUgraphNode untouched);

/// Throws DriverError, UserError for a name that is not known.
void set_attributes(const Driver& driver, CUgraphNode node, const Attributes& attributes);

}  // namespace assay::foundry
