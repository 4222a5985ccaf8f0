#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>

#include "impls/lte/baselines/calibration.hpp"
#include "impls/lte/baselines/selection.hpp"

namespace assay::lte {
namespace {

constexpr int calibration_sequences = 8;

class Cats : public SelectingFeedForward {
  public:
    Cats(const nn::Decoder& decoder, const nn::TokenData& data, double sparsity)
        : SelectingFeedForward(decoder.config().layers),
          sparsity_(sparsity),
          threshold_(static_cast<std::size_t>(decoder.config().layers)) {
        settling_ = true;
        pass_training_text(decoder, *this, data, calibration_sequences);
        settling_ = false;
    }

  protected:
    Choice choose(int layer, const at::Tensor& x, const at::Tensor& hidden,
                  const nn::FfnWeights& weights) override {
        const auto gate = (weights.gate.defined() ? at::silu(at::linear(x, weights.gate)) : hidden)
                              .detach()
                              .to(at::kFloat)
                              .abs();
        auto& threshold = threshold_[static_cast<std::size_t>(layer)];
        if (settling_) threshold = magnitude_threshold(gate, sparsity_);
        return {gate > threshold, {}};
    }

  private:
    double sparsity_;
    bool settling_ = false;
    std::vector<double> threshold_;
};

}  // namespace

std::unique_ptr<SelectingFeedForward> cats(const nn::Decoder& decoder, const nn::TokenData& data,
                                           double sparsity) {
    return std::make_unique<Cats>(decoder, data, sparsity);
}

}  // namespace assay::lte
