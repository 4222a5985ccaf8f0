// In which order a prompt has the answers that a node depends on.
#pragma once

#include "impls/plato/policy/plan_record.hpp"

namespace assay::plato {

/// Each node's dependencies such that its prompt begins like the longest sequence that one of them
/// will have left in the cache, where that is possible: a dependency whose own dependencies are
/// the node's, too, first those, then itself, then the others ascending. Plans are read ascending
/// by default.
PlanRecord ordered_for_reuse(PlanRecord plan);

}  // namespace assay::plato
