// What the module of tensors computes for Lazarus (impls/tensors/module.hpp): trainings across
// processes, for experiments and for the live campaign. Needs libtorch and Gloo there, not here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/lazarus/experiments/layers/skewed_layer.hpp"
#include "impls/lazarus/spot/live_schedule.hpp"
#include "impls/tensors/needs.hpp"
#include "impls/tensors/module.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::lazarus {

/// One sample of lazarus/fig9 (experiments/trainings/fig9_run.cpp). `spec` names every axis, those
/// too that series leave out. `routing`: "synthetic" or the file of a routing trace.
void run_fig9(const SampleSpec& spec, const MappedTrace& nodes, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder);

/// One sample of lazarus/x_clocks; arguments as run_fig9's.
void run_x_clocks(const SampleSpec& spec, const MappedTrace& nodes, const std::string& routing,
                  const std::filesystem::path& corpus, Recorder& recorder);

/// The emulated half of lazarus/tab2 (experiments/trainings/tab2_run.cpp): kills `lost` of ten
/// paced workers at once, after they have planned for the loads of `step`.
void run_tab2(const SampleSpec& spec, int lost, std::int64_t step, const std::string& routing,
              const std::filesystem::path& corpus, Recorder& recorder);

/// One sample of lazarus/x_operations (experiments/layers/x_operations_run.cpp).
void run_x_operations(const SampleSpec& spec, const std::filesystem::path& corpus,
                      Recorder& recorder);

/// One sample of lazarus/x_loss (experiments/trainings/x_loss_run.cpp). `spec` has passed the
/// experiment's validate().
void run_x_loss(const SampleSpec& spec, const std::filesystem::path& corpus, Recorder& recorder);

/// The measured half of lazarus/fig10a (experiments/layers/fig10a_run.cpp): both layers in turns.
void run_fig10a(const SkewedLayer& even, const SkewedLayer& skewed, Recorder& recorder);

/// The same at profile gpu (experiments/layers/fig10a_gpu.cpp): on logical ranks of the first GPU.
void run_fig10a_on_gpu(const SkewedLayer& even, const SkewedLayer& skewed, Recorder& recorder);
/// Why that is not possible here; std::nullopt: it is.
std::optional<std::string> gpu_layers_lack();

struct TensorFunctions {
    static constexpr const char* symbol = "assay_lazarus_tensors";
    decltype(&lazarus::run_fig9) run_fig9;
    decltype(&lazarus::run_x_clocks) run_x_clocks;
    decltype(&lazarus::run_tab2) run_tab2;
    decltype(&lazarus::run_x_operations) run_x_operations;
    decltype(&lazarus::run_x_loss) run_x_loss;
    decltype(&lazarus::run_fig10a) run_fig10a;
    decltype(&lazarus::run_fig10a_on_gpu) run_fig10a_on_gpu;
    decltype(&lazarus::gpu_layers_lack) gpu_layers_lack;
    decltype(&lazarus::run_live_schedule) run_live_schedule;
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

/// Calls run(functions). Where the build or the module is missing: SampleError (unsupported), which
/// says so.
template <class Run>
void compute_in_tensors([[maybe_unused]] const Run& run) {
    if (auto lacks = tensors::lacks(tensors::Needs::processes))
        throw SampleError(SampleStatus::unsupported, *lacks);
#ifdef ASSAY_LAZARUS_LIVE
    run(tensor_functions());
#endif
}

/// Of an experiment whose samples train: run(functions, text to train on); the same where there is
/// no text.
template <class Run>
void train_in_tensors(const Run& run) {
    const std::filesystem::path text = tensors::training_text();
    compute_in_tensors([&](const TensorFunctions& tensors) { run(tensors, text); });
}

}  // namespace assay::lazarus
