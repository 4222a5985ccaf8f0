// Feed-forward networks in place of a model's dense ones, and where they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "impls/decode/cpu/products.hpp"
#include "impls/decode/weights/weights.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "kernels/assay_kernels.h"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::decode {

/// One layer's feed-forward network in expert order, with its router: what LTE exports.
struct SparseLayer {
    int expert_size = kernels::neurons_per_expert;
    AssayType type = ASSAY_BF16, router_type = ASSAY_BF16;
    std::vector<std::byte> gate, up, down, router;  ///< layouts of AssayFfn and AssayRouter
    std::vector<float> up_bias, down_bias;
    std::vector<float> router_bias;  ///< [experts], added to the logits; empty: none
    float logit_threshold = 0;
    int experts = 0;
};

/// In the routers' place, for latency alone: of each token the first `count` experts of a seeded
/// permutation.
struct RandomExperts {
    int count = 0;
    std::uint64_t seed = 1;
};

class FeedForwardNetworks {
  public:
    virtual ~FeedForwardNetworks() = default;
    /// Tokens of any sequences side by side; what one gets does not depend on the others.
    /// positions: [tokens], each in its sequence. y: [tokens][width]. Throws std::runtime_error
    /// with the kernel's reason.
    virtual void run(AssayContext& context, int layer, std::span<const int> positions,
                     const Activations& x, float* y) = 0;
    /// Weights that the tokens last run through all layers read together.
    virtual std::uint64_t bytes_of_last_run() const = 0;
};

/// Of a file that leaves out neurons. `weights`: which rows are kept; quantised ones become fp32.
/// Throws UserError.
std::unique_ptr<FeedForwardNetworks> networks_of_file(const nn::TensorFile& file,
                                                      const nn::DecoderConfig& config,
                                                      const nn::FfnSparsity& sparsity,
                                                      WeightType weights);

/// The feed-forward networks of a file, `expert_size` neighbouring neurons an expert, without
/// routers. Throws UserError: the neurons of a layer are no multiple of that.
std::vector<SparseLayer> expert_layers(const nn::TensorFile& file, const nn::DecoderConfig& config,
                                       int expert_size, WeightType weights);

}  // namespace assay::decode
