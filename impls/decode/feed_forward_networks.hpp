// Feed-forward networks in place of a model's dense ones, and where they come from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/decode/engine.hpp"
#include "impls/decode/products.hpp"
#include "impls/nn/files/ffn_sparsity.hpp"

namespace assay::decode {

class FeedForwardNetworks {
  public:
    virtual ~FeedForwardNetworks() = default;
    /// y: [tokens][width]. Throws std::runtime_error with the kernel's reason.
    virtual void run(AssayContext& context, int layer, int first_position, const Activations& x,
                     float* y) = 0;
    /// Weights that the last token's networks read.
    virtual std::uint64_t bytes_of_last_token() const = 0;
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
