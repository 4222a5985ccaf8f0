// What the module of tensors computes for HeterMoE (impls/tensors/module.hpp).
#pragma once

#include <optional>
#include <string>

#include "impls/tensors/module.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

/// The functions below, as the program calls them.
struct TensorFunctions {
    static constexpr const char* symbol = "assay_hetermoe_tensors";
    void (*run_fig2)(const SampleSpec&, Recorder&);
    std::optional<std::string> (*module_timing_lacks)();
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

// Within the module.

/// A whole sample of fig2. Throws SampleError (unsupported) with what module_timing_lacks() says.
void run_fig2(const SampleSpec& spec, Recorder& recorder);
/// Why modules cannot be timed on parts of a GPU here, or nullopt.
std::optional<std::string> module_timing_lacks();

}  // namespace assay::hetermoe
