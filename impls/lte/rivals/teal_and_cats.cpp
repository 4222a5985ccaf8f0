#include "impls/lte/rivals/teal_and_cats.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>

#include <cmath>
#include <tuple>

namespace assay::lte {
namespace {

constexpr int calibration_sequences = 8;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double magnitude_threshold(const at::Tensor& values, double share) {
    const auto magnitude = values.detach().to(at::kFloat).abs().flatten();
    const auto below = std::llround(share * static_cast<double>(magnitude.numel()));
    if (below == 0) return -1;
    return std::get<0>(magnitude.kthvalue(below)).item<double>();
}

Teal::Teal(const nn::Decoder& decoder, const nn::TokenData& data, double sparsity)
    : layers_(static_cast<std::size_t>(decoder.config().layers)), sparsity_(sparsity) {
    pass_training_text(decoder, *this, data, calibration_sequences);
    settling_ = false;
    for (auto& layer : layers_) layer.skipped = layer.seen = 0;
}

at::Tensor Teal::run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
    auto& here = layers_[static_cast<std::size_t>(layer)];
    // Zeroes what is below the threshold; each such value spares `column` weights.
    const auto thin = [&](const at::Tensor& values, double& threshold, std::int64_t column) {
        if (settling_) threshold = magnitude_threshold(values, sparsity_);
        const auto kept = values.detach().to(at::kFloat).abs() > threshold;
        const auto count = static_cast<double>(kept.sum().item<std::int64_t>());
        const auto all = static_cast<double>(values.numel());
        here.skipped += (all - count) * static_cast<double>(column);
        here.seen += all * static_cast<double>(column);
        return values * kept.to(values.scalar_type());
    };
    const auto d = weights.up.size(1), f = weights.up.size(0);
    const auto seen = thin(x, here.input_threshold, weights.gate.defined() ? 2 * f : f);
    const auto hidden = thin(nn::ffn_hidden(weights, seen), here.hidden_threshold, d);
    return nn::ffn_output(weights, hidden);
}

double Teal::measured_sparsity() const {
    double skipped = 0, seen = 0;
    for (const auto& layer : layers_) {
        skipped += layer.skipped;
        seen += layer.seen;
    }
    return share(skipped, seen);
}

std::vector<double> Teal::layer_sparsity() const {
    std::vector<double> result;
    for (const auto& layer : layers_) result.push_back(share(layer.skipped, layer.seen));
    return result;
}

nn::InputThresholds Teal::thresholds() const {
    nn::InputThresholds found;
    for (const Layer& layer : layers_) {
        found.input.push_back(static_cast<float>(layer.input_threshold));
        found.hidden.push_back(static_cast<float>(layer.hidden_threshold));
    }
    return found;
}

Cats::Cats(const nn::Decoder& decoder, const nn::TokenData& data, double sparsity)
    : SelectingFeedForward(decoder.config().layers),
      sparsity_(sparsity),
      threshold_(static_cast<std::size_t>(decoder.config().layers)) {
    settling_ = true;
    pass_training_text(decoder, *this, data, calibration_sequences);
    settling_ = false;
}

nn::GateThresholds Cats::thresholds() const {
    return {std::vector<float>(threshold_.begin(), threshold_.end())};
}

SelectingFeedForward::Choice Cats::choose(int layer, const at::Tensor& x, const at::Tensor& hidden,
                                          const nn::FfnWeights& weights) {
    const auto gate = (weights.gate.defined() ? at::silu(at::linear(x, weights.gate)) : hidden)
                          .detach()
                          .to(at::kFloat)
                          .abs();
    auto& threshold = threshold_[static_cast<std::size_t>(layer)];
    if (settling_) threshold = magnitude_threshold(gate, sparsity_);
    return {gate > threshold, {}};
}

}  // namespace assay::lte
