#include <ATen/TensorOperators.h>

#include "impls/lte/baselines/selection.hpp"
#include "impls/lte/baselines/strongest.hpp"

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

}  // namespace

std::unique_ptr<SelectingFeedForward> expert_oracle(int layers, int expert_size, int count,
                                                    HiddenFunction hidden) {
    return std::make_unique<ExpertOracle>(layers, expert_size, count, hidden);
}

}  // namespace assay::lte
