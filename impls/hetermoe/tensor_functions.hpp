// What the module of tensors computes for HeterMoE (impls/tensors/module.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/hetermoe/parts/parts_point.hpp"
#include "impls/hetermoe/profile/profiler.hpp"
#include "impls/tensors/module.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

struct PacedPlan;
struct PacedRun;

// Within the module.

/// A whole sample of fig2 (modules/module_timing.cpp). Throws SampleError (unsupported) with what
/// module_timing_lacks() says.
void run_fig2(const SampleSpec& spec, Recorder& recorder);
/// Why modules cannot be timed on parts of a GPU here, or nullopt.
std::optional<std::string> module_timing_lacks();

// Across processes; these need Gloo there, too:

/// Everything that is emulated (emulated/paced_training.hpp, paced_processes.cpp).
std::vector<PacedRun> run_paced_processes(std::span<const PacedPlan> plans);

/// A sample of fig7 to fig12 or tab3 at profile gpu (parts/run_on_parts.cpp). Throws SampleError
/// (unsupported) with what module_timing_lacks() says.
void run_on_parts(const PartsPoint& point, std::string_view arm, Recorder& recorder);

/// One sample of hetermoe/x_live (experiments/x_live_run.cpp). `spec` has passed the experiment's
/// validate(). Throws SampleError(failed) when the training cannot go on.
void run_x_live(const SampleSpec& spec, const std::filesystem::path& corpus, Recorder& recorder);

/// `assay campaign hetermoe --mode live`: a small training across processes under the faults that
/// `seed` stands for, with every rule checked (campaign/live_schedule.cpp). `scratch`: a folder.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::filesystem::path& corpus,
                                     const std::filesystem::path& scratch);

/// The functions above, as the program calls them.
struct TensorFunctions {
    static constexpr const char* symbol = "assay_hetermoe_tensors";
    decltype(&hetermoe::run_fig2) run_fig2;
    decltype(&hetermoe::module_timing_lacks) module_timing_lacks;
    // Null without Gloo.
    decltype(&hetermoe::run_paced_processes) run_paced;
    decltype(&hetermoe::run_on_parts) run_on_parts;
    decltype(&hetermoe::measure_profile) measure_profile;
    decltype(&hetermoe::run_x_live) run_x_live;
    decltype(&hetermoe::run_live_schedule) run_live_schedule;
};

inline const TensorFunctions& tensor_functions() { return tensors::functions<TensorFunctions>(); }

}  // namespace assay::hetermoe
