// What samples run on: in virtual time LLaMA2-7B's shape on an A100 (modelled_gpu.hpp), measured
// SmolLM2-135M-Instruct (Q4_1) on this machine's processor.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/requests/batch_run.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::decode {

/// What does not depend on how often requests run: the model, and whose seconds count.
struct SampleRuns {
    int context = 0;
    std::function<BatchRunOptions(int blocks)> options;
    /// Of a run: modelled, or of this machine's time with what scheduling takes.
    std::function<double(const BatchRun&)> seconds;
};
/// By which a sample runs: measured, or in virtual time.
struct SampleClock {
    Provenance provenance{};
    std::uint64_t seed = 0;

    bool measured() const { return provenance == Provenance::measured; }
};
/// Throws UserError: the model is not here.
SampleRuns sample_runs(const SampleClock& clock);

/// SmolLM2 on this processor; the file is opened once.
class SmolLm2 {
  public:
    /// Throws UserError.
    SmolLm2();
    const nn::DecoderConfig& config() const { return config_; }
    /// Equal weights each time. May outlive this.
    BackEnds back_ends(const BackEndOptions& options) const;

  private:
    std::shared_ptr<const nn::TensorFile> file_;
    nn::DecoderConfig config_;
};
/// Why it cannot run here.
std::optional<std::string> smollm2_lacks();
std::string smollm2_path();
std::vector<Input> smollm2_inputs();

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

/// Toy, small and paper in virtual time, milliseconds; toy and small on this processor too.
struct SampleTimes {
    double simulated_s = 0.2, measured_s = 30;
};
std::vector<ProfilePlan> simulated_and_measured(const SampleTimes& per_sample);

nlohmann::json taken_for_granted(const SampleClock& clock);
std::optional<std::string> lacks(const SampleClock& clock);
std::vector<Input> inputs_of(const SampleClock& clock);

/// Declares all of that.
template <std::derived_from<SampleClock> Settings>
void add_place(Declaration<Settings>& declaration) {
    declaration.given(&Settings::provenance, &SampleSpec::provenance);
    declaration.given(&Settings::seed, &SampleSpec::seed);
    declaration.calibration(taken_for_granted);
    declaration.unsupported(lacks);
    declaration.inputs(inputs_of);
}

}  // namespace assay::decode
