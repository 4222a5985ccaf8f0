// Where the rows came from: what each source is worth to the target.
#pragma once

#include <vector>

#include "impls/dr_post_training/policy/plan.hpp"

namespace assay::dr_post_training {

/// By first appearance. `groups`: the plan's.
std::vector<PlannedSource> plan_sources(const PlanInput& input,
                                        const std::vector<PlannedGroup>& groups);

}  // namespace assay::dr_post_training
