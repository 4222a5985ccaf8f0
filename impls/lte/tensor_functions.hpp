// What the module of tensors computes for LTE (impls/tensors/module.hpp).
#pragma once

#include <optional>
#include <string>

#include "impls/tensors/module.hpp"

namespace assay::lte {

/// Documented where they are declared: experiments/training_runs.hpp,
/// experiments/fig8b_gpu_run.hpp, recipes/workbench.hpp.
struct TensorFunctions {
    static constexpr const char* symbol = "assay_lte_tensors";
    using Run = void (*)(const SampleSpec&, Recorder&);
    Run compete, compete_overall, histogram_of_scores, train_on_grouping, train_with_lambda,
        measure_unions, run_fig8b_on_gpu;
    std::optional<std::string> (*workbench_lacks)(const SampleSpec&);
    std::optional<std::string> (*gpu_decoding_lacks)();
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

}  // namespace assay::lte
