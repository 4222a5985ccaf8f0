// What `assay plan lazarus` prints for people.
#pragma once

#include <cstddef>
#include <string>

#include "impls/lazarus/layer_plan.hpp"

namespace assay::lazarus {

/// One layer in full: replicas, which node holds which experts, recovery. Runs of equal nodes share
/// a line; long recovery curves are thinned. For mro_guarded the curves of mro and spread stand
/// beside the plan's own.
std::string to_text(const LayerPlan& plan);

/// A job of one layer: that layer in full. Of several: a line per layer, its replicas, and the
/// recovery of all layers together beside that of the weakest layer. At the end what the numbers
/// mean, and what to run next.
std::string to_text(const JobPlan& plan);

/// Layer `layer` of several in full, with what the numbers mean. Throws UserError where there is no
/// such layer.
std::string to_text(const JobPlan& plan, std::size_t layer);

}  // namespace assay::lazarus
