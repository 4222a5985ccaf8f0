// What a sample of the fine-tuning experiments asks for, read from its axes. Torch-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/recipes/pools.hpp"
#include "impls/nn/files/described.hpp"
#include "suite/base/describe.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::dr_post_training {

struct SftSettings {
    nn::DecoderConfig model;
    // What the model knows before it is fine-tuned.
    std::int64_t base_steps = 0;
    std::size_t base_rows = 32;
    double base_rate = 3e-3;

    // Fine-tuning: section 3.1 of the specification, the sizes ours.
    std::int64_t steps = 0;
    std::size_t n = 8, k = 4, m = 1;  ///< general rows, rows kept, target rows of a step
    std::size_t given = 16;           ///< target rows there are ("n_val")
    PoolShape pool;
    std::vector<double> rates;  ///< of which validation rows choose
    std::size_t validation_rows = 64, test_rows = 256;
    std::int64_t evaluations = 6;
    /// What is trained: "full", "lora" (adapters), "meso" (moments in subspaces).
    std::string tuning = "full";
    /// Whether the arm is also trained for as long as plain training takes.
    bool equal_time = true;
    std::int64_t checkpoint_every = 0;  ///< 0: the sample is over before one would pay
    bool bf16 = false;                  ///< matrix products; else fp32
    int threads = 1;                    ///< of each product

    // Open readings; the default is the first.
    bool example_mean = false;    ///< axis loss: token | example
    std::string rule = "topk";    ///< topk | greedy | exact
    bool as_published = false;    ///< axis similarity: corrected | as_published
    bool head_chooses = false;    ///< axis head: all | selected
    bool cached_target = false;   ///< axis target: merged | cached
    std::string backend = "pip";  ///< pip | gip | direct | compressed

    /// Whether the model is SmolLM2 and the rows are those of recipes/text_rows.hpp.
    bool pretrained() const { return model.name == "smollm2"; }
    /// Rows at once in an evaluation.
    std::size_t evaluated_at_once() const { return pretrained() ? 8 : 256; }
};
ASSAY_FIELDS(SftSettings, model, base_steps, base_rows, base_rate, steps, n, k, m, given, pool,
             rates, validation_rows, test_rows, evaluations, tuning, equal_time, checkpoint_every,
             bf16, threads, example_mean, rule, as_published, head_chooses, cached_target, backend)

/// Of the axes model, tuning, steps, rate, relevance, noise, n_val, m and the readings; those that
/// the sample does not have are as above. Throws UserError for what cannot be: a share outside 0 to
/// 1, shares above 1 together, a rate or a number of steps or rows of 0 or below, an unknown model,
/// SmolLM2 tuned otherwise than by LoRA, a factor of merged batches for target rows that run ahead.
SftSettings sft_settings(const SampleSpec& spec);

/// All that a training is a function of, but arm, rate and seed: equal words, equal trainings.
std::string words(SftSettings settings);

/// The rivals of sft_perplexity, by the names of recipes/arms.hpp.
const std::vector<std::string>& sft_arms();
/// Sets beyond subsets, for every map: arms of x_sets.
const std::vector<std::string>& set_arms();

/// Whether samples of the experiment are also trained for equal time.
bool has_equal_time(std::string_view experiment);

/// "llama-toy" (0.2 M parameters), "llama-1m" and "llama-tiny", on bytes. Throws UserError for
/// another name.
nn::DecoderConfig toy_model(const std::string& name);

/// The number on axis rate; absent where it says grid or is not there. Throws UserError unless it
/// lies between 0 and 1.
std::optional<double> rate_axis(const SampleSpec& spec);

/// The word on an axis, or `otherwise` where the sample does not have it.
std::string word_axis(const SampleSpec& spec, const char* axis, const std::string& otherwise);

}  // namespace assay::dr_post_training
