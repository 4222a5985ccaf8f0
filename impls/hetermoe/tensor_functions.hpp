// What the module of tensors computes for HeterMoE (impls/tensors/module.hpp): trainings across
// processes. Needs libtorch and Gloo there, not here.
#pragma once

#include <cstdint>
#include <filesystem>

#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {

/// One sample of hetermoe/x_live (experiments/x_live_run.cpp). `spec` has passed the experiment's
/// validate(). Throws SampleError(failed) when the training cannot go on.
void run_x_live(const SampleSpec& spec, const std::filesystem::path& corpus, Recorder& recorder);

/// `assay campaign hetermoe --mode live`: a small training across processes under the faults that
/// `seed` stands for, with every rule checked (campaign/live_schedule.cpp). `scratch`: a folder.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::filesystem::path& corpus,
                                     const std::filesystem::path& scratch);

struct TensorFunctions {
    static constexpr const char* symbol = "assay_hetermoe_tensors";
    decltype(&hetermoe::run_x_live) run_x_live;
    decltype(&hetermoe::run_live_schedule) run_live_schedule;
};

}  // namespace assay::hetermoe
