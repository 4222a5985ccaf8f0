// What the simulated experiments run on: LLaMA2-7B's shape in bf16 on an A100, by its profile's
// peaks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/decode/requests/batch_run.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::decode {

/// From the sheet of the device profile: reading all weights once, a token's products, a
/// position's keys and values; a block over the link to the host's memory.
StepCost modelled_gpu_cost();
nlohmann::json modelled_gpu_calibration();

/// `blocks` of the cache; one run in virtual time.
BatchRunOptions on_modelled_gpu(int blocks);
inline constexpr int modelled_context = 4096, modelled_vocabulary = 32000;

/// Verdicts rest on intervals over seeds, one a round.
constexpr int rounds_of_verdicts = 3;
/// Toy, small and paper alike, simulated: milliseconds.
std::vector<ProfilePlan> simulated_profiles(double seconds_per_sample);

}  // namespace assay::decode
