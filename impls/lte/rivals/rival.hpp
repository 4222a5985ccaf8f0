// What the rivals of LTE have in common. Those that choose neurons or experts at run time are each
// a feed-forward network over an unchanged (or fine-tuned) decoder and report which neurons they
// used through `active()`, so that sparsity is measured, never assumed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/corpus.hpp"

namespace assay::lte {

/// Hidden activations of a feed-forward network, as nn::ffn_hidden.
using HiddenFunction = at::Tensor (*)(const nn::FfnWeights&, const at::Tensor& x);

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

/// Units of `units` that remain at a sparsity of 0 … 1: rounded to the nearest whole number (halves
/// up), at least one. Throws UserError for a sparsity outside [0, 1).
int units_kept(std::int64_t units, double sparsity);

/// Exactly `count` units of each row, those with the largest scores: bool [tokens, N]. Which of
/// equal scores are taken is up to topk, and the same every time. scores: [tokens, N]; no gradient.
at::Tensor strongest(const at::Tensor& scores, int count);

// For methods that are set by what they see of a text.

/// Batches for calibration: their seed, apart from those of trainings.
inline constexpr std::uint64_t calibration_seed = 0xca11b4a7e;

/// One forward pass of `sequences` training windows, a function of (seed, part), without gradients
/// and in fp32. A feed-forward network that settles itself from what it is given, layer after
/// layer, sees in each layer what the settled layers before it make.
void pass_training_text(const nn::Decoder&, nn::FeedForward&, const nn::TokenData&, int sequences,
                        std::uint64_t seed = calibration_seed, std::int64_t part = 0);

}  // namespace assay::lte
