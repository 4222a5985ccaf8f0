// Whole samples of the experiments that train models: in the module of tensors.
#pragma once

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {

/// Trains the sample's variant, measures it and records what comes out.
void compete(const SampleSpec& spec, Recorder& recorder);
/// The same with what the whole model's sparsity is: tab2.
void compete_overall(const SampleSpec& spec, Recorder& recorder);

void histogram_of_scores(const SampleSpec& spec, Recorder& recorder);  ///< fig3
void train_on_grouping(const SampleSpec& spec, Recorder& recorder);    ///< fig9
void train_with_lambda(const SampleSpec& spec, Recorder& recorder);    ///< fig11
void measure_unions(const SampleSpec& spec, Recorder& recorder);       ///< fig15

}  // namespace assay::lte
