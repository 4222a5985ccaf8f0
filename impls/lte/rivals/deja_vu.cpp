#include "impls/lte/rivals/deja_vu.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "impls/nn/hashes.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::lte {
namespace {

constexpr std::size_t narrow = 0, widen = 1;  // positions in a block
constexpr int sequences_per_pass = 8;

/// What a layer saw, and which of its neurons were the strongest.
struct Examples {
    std::vector<at::Tensor> x;       ///< [tokens, d], bf16
    std::vector<at::Tensor> active;  ///< bool [tokens, f]
};

// The dense network, which notes down examples.
class ExampleProbe : public nn::FeedForward {
  public:
    ExampleProbe(int layers, int count)
        : examples(static_cast<std::size_t>(layers)), count_(count) {}
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        const auto hidden = nn::ffn_hidden(weights, x);
        auto& here = examples[static_cast<std::size_t>(layer)];
        here.x.push_back(x.to(at::kBFloat16));
        here.active.push_back(strongest(hidden.abs(), count_));
        return nn::ffn_output(weights, hidden);
    }
    std::vector<Examples> examples;

  private:
    int count_;
};

class DejaVu : public SelectingFeedForward {
  public:
    DejaVu(const nn::DecoderConfig& config, int count, const DejaVuOptions& options,
           at::Device device)
        : SelectingFeedForward(config.layers), count_(count) {
        // Either matrix keeps the scale of what passes it.
        const std::vector<nn::ParameterSpec> specs{
            {"narrow", {options.rank, config.width}, 1 / std::sqrt(config.width)},
            {"widen", {config.hidden, options.rank}, 1 / std::sqrt(options.rank)}};
        for (int layer = 0; layer < config.layers; ++layer)
            predictors_.push_back(std::make_unique<nn::ParameterBlock>(
                "predictor" + std::to_string(layer), specs, at::kFloat, options.seed, device));
    }

    void fit(const std::vector<Examples>& examples, const DejaVuOptions& options);

  protected:
    Choice choose(int layer, const at::Tensor& x, const at::Tensor&,
                  const nn::FfnWeights&) override {
        const at::NoGradGuard no_grad;
        return {strongest(predict(static_cast<std::size_t>(layer), x.to(at::kFloat)), count_), {}};
    }

  private:
    at::Tensor predict(std::size_t layer, const at::Tensor& x) const {
        const auto& block = *predictors_[layer];
        return at::linear(at::linear(x, block[narrow]), block[widen]);
    }

    std::vector<std::unique_ptr<nn::ParameterBlock>> predictors_;
    int count_;
};

// Rows of a batch, with replacement, a function of (seed, step).
at::Tensor drawn_rows(std::int64_t rows, int count, std::uint64_t seed, std::int64_t step) {
    auto index = at::empty({count}, at::TensorOptions().dtype(at::kLong));
    auto* out = index.mutable_data_ptr<std::int64_t>();
    auto draw = nn::counter_hash(nn::counter_hash(seed) + static_cast<std::uint64_t>(step));
    for (int i = 0; i < count; ++i) {
        draw = nn::counter_hash(draw);
        out[i] = static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(rows));
    }
    return index;
}

// Each layer apart: their gradients have nothing to do with each other, and neither should the
// clipping of them.
void DejaVu::fit(const std::vector<Examples>& examples, const DejaVuOptions& options) {
    for (std::size_t layer = 0; layer < examples.size(); ++layer) {
        const auto x = at::cat(examples[layer].x), active = at::cat(examples[layer].active);
        // As many times as there are more of the others.
        const auto neurons = static_cast<double>(active.size(1));
        const auto weight_of_active =
            at::full({1}, (neurons - count_) / count_, x.options().dtype(at::kFloat));
        nn::TrainingOptions training;
        training.steps = options.steps;
        training.learning_rate = options.learning_rate;
        nn::TrainingCallbacks callbacks;
        callbacks.loss = [&](std::int64_t step) {
            const auto rows =
                drawn_rows(x.size(0), options.tokens, options.seed, step).to(x.device());
            const auto loss = at::binary_cross_entropy_with_logits(
                predict(layer, x.index_select(0, rows).to(at::kFloat)),
                active.index_select(0, rows).to(at::kFloat), /*weight=*/{}, weight_of_active);
            return nn::TrainingStep{loss, loss.item<double>()};
        };
        nn::NoState nothing;  // seconds of work: done again when a sample is
        nn::train("predictor" + std::to_string(layer), {predictors_[layer].get()}, training,
                  callbacks, nothing, 0);
    }
}

}  // namespace

int sequences_within(double bytes, const nn::DecoderConfig& config, int context,
                     const DejaVuOptions& options) {
    const double of_token = config.layers * (2.0 * config.width + config.hidden);
    const double drawn = static_cast<double>(options.steps) * options.tokens;
    return std::max(1, static_cast<int>(std::min(bytes / of_token, drawn) / context));
}

std::unique_ptr<SelectingFeedForward> deja_vu(const nn::Decoder& decoder, const nn::TokenData& data,
                                              double keep, const DejaVuOptions& options) {
    const auto& config = decoder.config();
    const int count = units_kept(config.hidden, 1 - keep);
    ExampleProbe probe(config.layers, count);
    for (int done = 0; done < options.sequences; done += sequences_per_pass)
        pass_training_text(decoder, probe, data,
                           std::min(sequences_per_pass, options.sequences - done), options.seed,
                           done / sequences_per_pass);
    auto model = std::make_unique<DejaVu>(config, count, options,
                                          decoder.blocks().front()->values().device());
    model->fit(probe.examples, options);
    return model;
}

}  // namespace assay::lte
