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

/// `count` requests of `prompt` tokens, the first `shared` of them the same in all.
std::vector<BatchJob> random_jobs(int count, int prompt, int shared, int max_tokens,
                                  std::uint64_t seed);

/// Tokens made by all requests.
double tokens_made(const BatchRun& run);
/// Whether ids and log-probabilities are the same, bit for bit.
bool same_tokens(std::span<const BatchAnswer> a, std::span<const BatchAnswer> b);
inline bool same_tokens(const BatchRun& a, const BatchRun& b) {
    return same_tokens(a.answers, b.answers);
}

/// Toy, small and paper alike, simulated: milliseconds.
std::vector<ProfilePlan> simulated_profiles(double seconds_per_sample);

}  // namespace assay::decode
