#include "impls/lte/rivals/moefication.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "impls/lte/method/routed_feed_forward.hpp"

namespace assay::lte {
namespace {

class ExpertOracle : public SelectingFeedForward {
  public:
    ExpertOracle(int layers, int expert_size, int count, HiddenFunction hidden)
        : SelectingFeedForward(layers, hidden), expert_size_(expert_size), count_(count) {}

  protected:
    Choice choose(int, const at::Tensor&, const at::Tensor& hidden,
                  const nn::FfnWeights&) override {
        const auto strength = hidden.detach().to(at::kFloat).abs();
        return {strongest(strength.view({hidden.size(0), -1, expert_size_}).sum(2), count_), {}};
    }

  private:
    int expert_size_, count_;
};

class RandomRouter : public SelectingFeedForward {
  public:
    RandomRouter(const nn::DecoderConfig& config, const RouterOptions& options, int count,
                 at::Device device)
        : SelectingFeedForward(config.layers), routers_(config, options, device), count_(count) {}

  protected:
    Choice choose(int layer, const at::Tensor& x, const at::Tensor&,
                  const nn::FfnWeights&) override {
        const at::NoGradGuard no_grad;
        return {strongest(routers_.scores(layer, x), count_), {}};
    }

  private:
    Routers routers_;
    int count_;
};

}  // namespace

at::Tensor relu_hidden(const nn::FfnWeights& weights, const at::Tensor& x) {
    const auto up = at::linear(x, weights.up, weights.up_bias);
    return weights.gate.defined() ? at::relu(at::linear(x, weights.gate)) * up : at::relu(up);
}

at::Tensor ReluFeedForward::run(int, const at::Tensor& x, const nn::FfnWeights& weights) {
    return nn::ffn_output(weights, relu_hidden(weights, x));
}

std::unique_ptr<SelectingFeedForward> expert_oracle(int layers, int expert_size, int count,
                                                    HiddenFunction hidden) {
    return std::make_unique<ExpertOracle>(layers, expert_size, count, hidden);
}

std::unique_ptr<SelectingFeedForward> random_router(const nn::DecoderConfig& config,
                                                    int expert_size, int count, std::uint64_t seed,
                                                    at::Device device) {
    RouterOptions options;
    options.expert_size = expert_size;
    options.seed = seed;
    return std::make_unique<RandomRouter>(config, options, count, device);
}

}  // namespace assay::lte
