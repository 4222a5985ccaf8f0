#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "impls/model/perplexity.hpp"
#include "impls/nn/decoder.hpp"

namespace assay::model {
namespace {

class LibtorchScorer final : public WindowScorer {
  public:
    LibtorchScorer(const nn::TensorFile& file, const ScorerOptions& options)
        : decoder_(nn::Decoder::load(file)), compute_(options.bf16 ? at::kBFloat16 : at::kFloat) {
        if (options.threads > 0) at::set_num_threads(options.threads);
    }

    double nll(std::span<const int> window,
               const std::function<void(std::int64_t)>& progress) override {
        const at::NoGradGuard no_grad;
        const auto length = static_cast<std::int64_t>(window.size());
        const at::Tensor tokens = at::empty({1, length}, at::kLong);
        std::copy(window.begin(), window.end(), tokens.data_ptr<std::int64_t>());
        const double sum = decoder_.loss(tokens, feed_forward_, compute_).item<double>();
        progress(length - 1);
        return sum;
    }

  private:
    nn::Decoder decoder_;
    nn::DenseFeedForward feed_forward_;
    at::ScalarType compute_;
};

std::unique_ptr<WindowScorer> scorer(const nn::TensorFile& file, const ScorerOptions& options) {
    return std::make_unique<LibtorchScorer>(file, options);
}

const tensors::Provided provided_scorer(libtorch_scorer, scorer);

}  // namespace
}  // namespace assay::model
