// The smallest models of recipes/workbench.cpp on a text that is learned within seconds.
#pragma once

#include <ATen/core/grad_mode.h>

#include <functional>
#include <string>
#include <utility>

#include "impls/lte/recipes/workbench.hpp"
#include "impls/nn/training/language_model.hpp"
#include "tests/nn/training/toy_text.hpp"

namespace assay::lte {

inline Sizes small_sizes(const std::string& model) { return sizes_of(model, Profile::toy); }

inline const nn::TokenData& short_text() {
    static const auto data =
        nn::TokenData::from_text(nn::sums(2000), nn::Tokenizer::bytes(), 0.1, 64);
    return data;
}

/// Fresh weights, enlarged, so that every neuron has something to say.
inline nn::Decoder lively_decoder(const std::string& model, std::uint64_t seed = 1) {
    nn::Decoder decoder(small_sizes(model).model, seed);
    const at::NoGradGuard no_grad;
    for (auto& block : decoder.blocks()) block->values().mul_(4);
    return decoder;
}

inline nn::LanguageModelTraining short_training(std::int64_t steps, double rate = 3e-3) {
    nn::LanguageModelTraining training;
    training.options.steps = steps;
    training.options.learning_rate = rate;
    training.sequences = 8;
    return training;
}

inline nn::Decoder trained_decoder(const std::string& model, std::int64_t steps = 120) {
    nn::Decoder decoder(small_sizes(model).model, 1);
    nn::DenseFeedForward dense;
    nn::NoState nothing;
    nn::train_language_model("base", decoder, dense, short_text(), short_training(steps), nothing);
    return decoder;
}

inline at::Tensor held_out_ids() {
    const auto tokens = short_text().held_out_batches(4, 4).front();
    return tokens.narrow(1, 0, tokens.size(1) - 1);
}

inline at::Tensor logits(const nn::Decoder& decoder, nn::FeedForward& ffn) {
    const at::NoGradGuard no_grad;
    return decoder.logits(held_out_ids(), ffn);
}

/// The dense network; `see` looks at what each layer is given.
class Onlooker : public nn::FeedForward {
  public:
    using See = std::function<void(int layer, const at::Tensor& x, const nn::FfnWeights&)>;
    explicit Onlooker(See see) : see_(std::move(see)) {}
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) override {
        see_(layer, x, weights);
        return nn::ffn_output(weights, nn::ffn_hidden(weights, x));
    }

  private:
    See see_;
};

}  // namespace assay::lte
