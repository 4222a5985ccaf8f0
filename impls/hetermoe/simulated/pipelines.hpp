// A pipeline of new and old GPUs as heterogeneity-aware planners make it (Whale, Metis, FlashFlex).
#pragma once

#include <optional>

#include "impls/hetermoe/simulated/point.hpp"

namespace assay::hetermoe {

/// Seconds of a step of equal pipelines, as many as both numbers of GPUs divide into; a stage for
/// each GPU, layers dealt and kinds ordered as is best, 1F1B, a sequence a micro-batch, sending
/// hidden. A stage holds all experts of its layers. Nothing where no deal fits into memory.
std::optional<double> pipelines_step_s(const Point& point);

}  // namespace assay::hetermoe
