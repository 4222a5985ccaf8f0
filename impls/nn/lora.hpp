// Low-rank adapters (LoRA, arXiv 2106.09685) beside the linear maps of a decoder's layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

struct LoraOptions {
    std::int64_t rank = 8;
    double alpha = 16;   ///< what an adapter adds is scaled by alpha / rank
    double dropout = 0;  ///< of an adapter's inputs, in training
    std::uint64_t seed = 1;
};

/// Adapters for all linear maps of all layers: y = x·Wᵀ + b + (alpha/rank)·(x·Aᵀ)·Bᵀ, A [rank, I]
/// normal(0, 1/√I), B [O, rank] zero at first. The decoder's own blocks are frozen.
class Lora {
  public:
    /// The decoder must outlive it.
    Lora(Decoder& decoder, const LoraOptions& options);

    /// One block a layer; what is to be trained.
    std::vector<std::unique_ptr<ParameterBlock>>& blocks() { return blocks_; }

    /// Maps that add the adapters, and pass everything on to `inner`: the frozen maps under their
    /// names, the adapters' as "up.a" and "up.b". `inner` must outlive them. step: of the training,
    /// which draws the dropout; −1: none (evaluation).
    std::unique_ptr<Maps> over(Maps& inner, std::int64_t step = -1) const;

    /// A leaf, by layer, map and 'a' or 'b'. Throws std::out_of_range.
    const at::Tensor& adapter(int layer, std::string_view map, char which) const;

    /// Adds the adapters to the decoder's weights and sets B to zero: the outputs stay as they are,
    /// up to rounding.
    void merge();

  private:
    class Through;
    struct Adapter {
        std::string map, name_a, name_b;
    };
    double scale() const { return options_.alpha / static_cast<double>(options_.rank); }

    Decoder& decoder_;
    LoraOptions options_;
    std::vector<Adapter> adapters_;  ///< of each layer, in the order of the blocks' pairs
    std::vector<std::unique_ptr<ParameterBlock>> blocks_;
};

}  // namespace assay::nn
