// What the module of tensors computes for LTE (impls/tensors/module.hpp).
#pragma once

#include <optional>
#include <string>

#include "impls/tensors/module.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {

/// The functions below, as the program calls them.
struct TensorFunctions {
    static constexpr const char* symbol = "assay_lte_tensors";
    using Run = void (*)(const SampleSpec&, Recorder&);
    Run compete, compete_overall, histogram_of_scores, train_on_grouping, train_with_lambda,
        measure_unions, train_router_arm, make_product, answer_task, run_fig8b_on_gpu;
    std::optional<std::string> (*workbench_lacks)(const SampleSpec&);
    std::optional<std::string> (*gpu_decoding_lacks)();
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

// Within the module. Whole samples of the experiments that train models
// (experiments/training_runs.cpp):

/// Trains the sample's variant, measures it and records what comes out.
void compete(const SampleSpec& spec, Recorder& recorder);
/// The same with what the whole model's sparsity is: tab2.
void compete_overall(const SampleSpec& spec, Recorder& recorder);

void histogram_of_scores(const SampleSpec& spec, Recorder& recorder);  ///< fig3
void train_on_grouping(const SampleSpec& spec, Recorder& recorder);    ///< fig9
void train_with_lambda(const SampleSpec& spec, Recorder& recorder);    ///< fig11
void measure_unions(const SampleSpec& spec, Recorder& recorder);       ///< fig15
void train_router_arm(const SampleSpec& spec, Recorder& recorder);     ///< x_routers

void make_product(const SampleSpec& spec, Recorder& recorder);  ///< x_product

void answer_task(const SampleSpec& spec, Recorder& recorder);  ///< fig5, fig7, fig14

/// A reason why such a sample cannot be made here (the text or the weights have not been fetched;
/// at profile gpu there is no GPU), or nullopt. For Experiment::unsupported.
std::optional<std::string> workbench_lacks(const SampleSpec& spec);

// Fig. 8, right, on a GPU, with LLaMA2-7B's shape (experiments/fig8b_gpu.cpp):

/// Why nothing decodes on a GPU here, or nullopt.
std::optional<std::string> gpu_decoding_lacks();
/// A whole sample. Throws SampleError (unsupported) with what gpu_decoding_lacks() says.
void run_fig8b_on_gpu(const SampleSpec& spec, Recorder& recorder);

}  // namespace assay::lte
