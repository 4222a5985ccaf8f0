// What the axes of a fine-tuning say, and what it is of that. Torch-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impls/dr_post_training/method/readings.hpp"
#include "impls/dr_post_training/recipes/pools.hpp"
#include "impls/nn/files/described.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::dr_post_training {

/// Axis rate of every training.
struct LearningRate {
    std::optional<double> rate;  ///< absent: of a grid, the best
};
/// `says`: what "grid" is.
Axes<LearningRate> rate_axis(const std::string& says);
/// The rate that is asked for, or else the grid.
std::vector<double> rates_of(const LearningRate&, std::vector<double> grid);

/// relevance, noise.
Axes<PoolShape> pool_axes(const std::string& noise_says);

struct SftAxes : Readings, LearningRate {
    std::string model = "llama-toy";
    PoolShape pool;
    std::size_t given = 16;  ///< target rows there are ("n_val")
    std::int64_t steps = 300;
};
/// The readings last. Refuse what sft_settings() refuses.
Axes<SftAxes> sft_axes();
Axes<Readings> reading_axes();

struct SftSettings {
    nn::DecoderConfig model;
    // What the model knows before it is fine-tuned.
    std::int64_t base_steps = 0;
    std::size_t base_rows = 32;
    double base_rate = 3e-3;

    // Fine-tuning: section 3.1 of the specification, the sizes ours.
    std::int64_t steps = 0;
    std::size_t n = 8, k = 4;  ///< general rows, rows kept of a step
    std::size_t given = 16;
    PoolShape pool;
    std::vector<double> rates;  ///< of which validation rows choose
    std::size_t validation_rows = 64, test_rows = 256;
    std::int64_t evaluations = 6;
    /// Whether the arm is also trained for as long as plain training takes.
    bool equal_time = true;
    std::int64_t checkpoint_every = 0;  ///< 0: the sample is over before one would pay
    bool bf16 = false;                  ///< matrix products; else fp32
    int threads = 1;                    ///< of each product
    Readings readings;

    /// Whether the model is SmolLM2 and the rows are those of recipes/text_rows.hpp.
    bool pretrained() const { return model.name == "smollm2"; }
    /// Rows at once in an evaluation.
    std::size_t evaluated_at_once() const { return pretrained() ? 8 : 256; }
};
ASSAY_FIELDS(SftSettings, model, base_steps, base_rows, base_rate, steps, n, k, given, pool, rates,
             validation_rows, test_rows, evaluations, equal_time, checkpoint_every, bf16, threads,
             readings)

/// Throws UserError for what cannot be: shares above 1 together, an unknown model, SmolLM2 tuned
/// otherwise than by LoRA, a factor of merged batches for target rows that run ahead.
SftSettings sft_settings(const SftAxes& axes);

/// All that a training is a function of, but arm, rate and seed: equal words, equal trainings.
std::string words(SftSettings settings);

/// The rivals of sft_perplexity, by the names of recipes/arms.hpp.
const std::vector<std::string>& sft_arms();
/// Sets beyond subsets, for every map: arms of x_sets.
const std::vector<std::string>& set_arms();

/// "llama-toy" (0.2 M parameters), "llama-1m" and "llama-tiny", on bytes. Throws UserError for
/// another name.
nn::DecoderConfig toy_model(const std::string& name);

}  // namespace assay::dr_post_training
