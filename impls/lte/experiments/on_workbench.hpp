// What samples that train models have in common, in the module of tensors.
#pragma once

#include <functional>

#include "impls/lte/experiments/trainings.hpp"
#include "impls/lte/recipes/sparse_model.hpp"

namespace assay::lte {

/// Runs `body` on a workbench; a divergence becomes an event and a failed sample.
void on_workbench(const Materials& materials, Recorder& recorder,
                  const std::function<void(Workbench&)>& body);

/// Our schedule at the sparsity asked for.
LteRecipe recipe_of(const Training& training);

SparseModel make_competitor(Workbench& bench, const Training& training);

void record(const Quality& quality, const TrainingFound& found);

// Whole samples, for tests, too.
void run(const Task& task, Recorder& recorder);
void run(const XRouters& routers, Recorder& recorder);
void run(const XProduct& product, Recorder& recorder);

}  // namespace assay::lte
