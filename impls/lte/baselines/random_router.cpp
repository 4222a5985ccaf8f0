#include <ATen/core/grad_mode.h>

#include "impls/lte/baselines/selection.hpp"
#include "impls/lte/baselines/strongest.hpp"
#include "impls/lte/method/lte_feed_forward.hpp"

namespace assay::lte {
namespace {

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

std::unique_ptr<SelectingFeedForward> random_router(const nn::DecoderConfig& config,
                                                    int expert_size, int count, std::uint64_t seed,
                                                    at::Device device) {
    RouterOptions options;
    options.expert_size = expert_size;
    options.seed = seed;
    return std::make_unique<RandomRouter>(config, options, count, device);
}

}  // namespace assay::lte
