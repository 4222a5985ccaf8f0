// What the module of tensors computes for Dr. Post-Training (impls/tensors/module.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "impls/tensors/module.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {

/// The functions below, as the program calls them.
struct TensorFunctions {
    static constexpr const char* symbol = "assay_dr_post_training_tensors";
    using Run = void (*)(const SampleSpec&, Recorder&);
    Run run_sft, run_rlvr, run_rlhf, run_steps, run_scoring, run_x_faults;
    Run run_bias_exposure, run_compression;
    std::optional<std::string> (*timing_on_gpu_lacks)();
    drive::SeedOutcome (*run_live_schedule)(std::uint64_t, const std::filesystem::path&);
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

// Within the module: whole samples. experiments/sft_run.cpp:

/// Fine-tunes by the sample's variant and records what comes of it.
void run_sft(const SampleSpec& spec, Recorder& recorder);

/// Train a policy by reward, rows chosen by the sample's variant (experiments/reward_runs.cpp): by
/// GRPO on right answers, by PPO on a learnt reward.
void run_rlvr(const SampleSpec& spec, Recorder& recorder);
void run_rlhf(const SampleSpec& spec, Recorder& recorder);
// experiments/system_runs.cpp:
/// overhead, breakdown, overhead_h200
void run_steps(const SampleSpec& spec, Recorder& recorder);
void run_scoring(const SampleSpec& spec, Recorder& recorder);  ///< scoring_cost and peak_memory
/// Why steps and scores cannot be timed on a GPU; std::nullopt: they can.
std::optional<std::string> timing_on_gpu_lacks();

// experiments/bias_exposure_run.cpp, compression_run.cpp: at a model's start.
void run_bias_exposure(const SampleSpec& spec, Recorder& recorder);
void run_compression(const SampleSpec& spec, Recorder& recorder);

// experiments/x_faults_run.cpp:
void run_x_faults(const SampleSpec& spec, Recorder& recorder);
/// A small guarded training under the faults that a seed stands for. `scratch`: for checkpoints.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::filesystem::path& scratch);

}  // namespace assay::dr_post_training
