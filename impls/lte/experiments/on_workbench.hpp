// What samples that train models have in common, in the module of tensors.
#pragma once

#include <functional>

#include "impls/lte/recipes/sparse_model.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lte {

/// Runs `body` on a workbench; a divergence becomes an event and a failed sample.
void on_workbench(const SampleSpec& spec, Recorder& recorder,
                  const std::function<void(Workbench&)>& body);

/// What the axis "recipe" says; as it was where a sample has no such axis, as older ones.
LteRecipe recipe_of(const SampleSpec& spec);

/// "lte" (our schedule at the sample's sparsity), "lte_published" (the paper's loss, axis eta) or a
/// rival by name, trained.
SparseModel make_competitor(Workbench& bench, const SampleSpec& spec);

}  // namespace assay::lte
