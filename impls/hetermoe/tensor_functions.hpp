// What the module of tensors computes for HeterMoE (impls/tensors/module.hpp): it has Gloo.
#pragma once

#include "impls/tensors/module.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

/// The emulated half of hetermoe/fig6 (experiments/fig6_run.cpp).
void run_fig6(const SampleSpec& spec, Recorder& recorder);

struct TensorFunctions {
    static constexpr const char* symbol = "assay_hetermoe_tensors";
    decltype(&hetermoe::run_fig6) run_fig6;
};

}  // namespace assay::hetermoe
