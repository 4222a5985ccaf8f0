// Rivals that choose neurons or experts at run time without LTE's routers. Each is a feed-forward
// network over an unchanged (or fine-tuned) decoder; each reports which neurons it used through
// `active()` so that sparsity is measured, never assumed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/lte/baselines/relu_swap.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/token_data.hpp"

namespace assay::lte {

class SelectingFeedForward : public nn::FeedForward {
  public:
    at::Tensor run(int layer, const at::Tensor& x, const nn::FfnWeights& weights) final;
    /// What each layer used in the last forward pass: bool [tokens, N], N experts of f/N neighbours
    /// (methods that choose single neurons: N = f).
    const std::vector<at::Tensor>& active() const { return active_; }

  protected:
    struct Choice {
        at::Tensor used;    ///< bool [tokens, N]
        at::Tensor weight;  ///< multiplier of what is used [tokens, N]; undefined: 1
    };
    explicit SelectingFeedForward(int layers, HiddenFunction hidden = nn::ffn_hidden)
        : hidden_(hidden), active_(static_cast<std::size_t>(layers)) {}
    virtual Choice choose(int layer, const at::Tensor& x, const at::Tensor& hidden,
                          const nn::FfnWeights& weights) = 0;

  private:
    HiddenFunction hidden_;
    std::vector<at::Tensor> active_;
};

/// MoEfication with ground-truth selection, as the paper runs it (favourable to it): per token the
/// `count` experts (of `expert_size` neighbouring neurons) with the largest sum of |h|. With one
/// neuron per expert it is the oracle bound of Deja Vu. `hidden`: relu_hidden after a ReLU swap.
std::unique_ptr<SelectingFeedForward> expert_oracle(int layers, int expert_size, int count,
                                                    HiddenFunction hidden = nn::ffn_hidden);

/// Experts ranked by a fixed random linear router, top `count` (Fig. 12's control).
std::unique_ptr<SelectingFeedForward> random_router(const nn::DecoderConfig&, int expert_size,
                                                    int count, std::uint64_t seed,
                                                    at::Device device = at::kCPU);

/// Deja-Vu-style predictors (Liu et al., ICML 2023): per layer a two-matrix network d → rank → f
/// without a nonlinearity between, trained by binary cross entropy to tell which neurons are among
/// the `keep` share with the largest |h|; at run time the top `keep` share of its outputs is
/// computed. Fitted on hidden states of training text, the decoder frozen. A function of its
/// arguments. Keeps (4·d + f) bytes per token and layer while fitting.
struct DejaVuOptions {
    int rank = 64;
    int steps = 200;  ///< of `tokens` hidden states each
    int tokens = 512;
    double learning_rate = 1e-3;
    int sequences = 8;  ///< of training text
    std::uint64_t seed = 1;
};
std::unique_ptr<SelectingFeedForward> deja_vu(const nn::Decoder&, const nn::TokenData&, double keep,
                                              const DejaVuOptions&);

/// CATS (Lee et al., COLM 2024): neurons whose |silu(gate·x)| (models without a gate: |act|)
/// exceeds a per-layer threshold, the quantile that gives `sparsity` on calibration text. The gate
/// (without one: `up`) is still read whole, so that of the weights 2/3 (1/2) of the sparsity is
/// saved.
std::unique_ptr<SelectingFeedForward> cats(const nn::Decoder&, const nn::TokenData&,
                                           double sparsity);

}  // namespace assay::lte
