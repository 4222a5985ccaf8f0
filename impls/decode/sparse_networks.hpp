// Sparse feed-forward networks behind routers, in place of a model's dense ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "impls/decode/activations.hpp"
#include "impls/decode/engine.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::decode {

class SparseNetworks {
  public:
    /// Throws UserError: sizes that contradict each other or the model.
    SparseNetworks(const nn::DecoderConfig& config, std::vector<SparseLayer> layers,
                   std::optional<FixedActive> fixed);

    /// y: [tokens][width]. Throws std::runtime_error with the kernel's reason.
    void run(const AssayKernels& kernels, AssayContext* context, int layer, int first_position,
             const Activations& x, float* y);

    /// Weights that the last token's networks read.
    std::uint64_t bytes_of_last_token() const { return bytes_of_last_token_; }

  private:
    struct Layer {
        AssayFfn ffn;
        const std::byte* router;
        float logit_threshold;
        std::vector<float> up_bias, down_bias;
    };
    /// Overwrites what the router chose.
    void choose_fixed(int layer, int first_position, int tokens, int experts);
    std::uint64_t bytes_of(const Layer& layer, const std::uint8_t* mask) const;

    int width_;
    std::optional<FixedActive> fixed_;
    std::vector<Layer> layers_;
    kernels::StreamedMemory weights_;
    std::vector<std::uint8_t> mask_;  // [largest_batch][experts]
    std::vector<std::int32_t> active_;
    std::int32_t active_count_ = 0;
    kernels::StreamedMemory workspace_;
    std::size_t workspace_bytes_ = 0;
    std::uint64_t bytes_of_last_token_ = 0;
};

}  // namespace assay::decode
