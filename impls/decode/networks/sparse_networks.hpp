// Sparse feed-forward networks behind routers, in place of a model's dense ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impls/decode/networks/feed_forward_networks.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::decode {

/// Sets `random.count` bytes of the mask, one per expert, to 1 and the others to 0: a function of
/// seed, layer and position.
void choose_random_experts(const RandomExperts& random, int layer, int position,
                           std::span<std::uint8_t> mask);

class SparseNetworks final : public FeedForwardNetworks {
  public:
    /// Throws UserError: sizes that contradict each other or the model.
    SparseNetworks(const nn::DecoderConfig& config, std::vector<SparseLayer> layers,
                   std::optional<RandomExperts> random);

    void run(AssayContext& context, int layer, std::span<const int> positions, const Activations& x,
             float* y) override;
    std::uint64_t bytes_of_last_run() const override { return bytes_of_last_run_; }

  private:
    struct Layer {
        AssayFfn ffn;
        const std::byte* router;
        AssayType router_type;
        float logit_threshold;
        std::vector<float> up_bias, down_bias, router_bias;
    };
    void route(AssayContext& context, const Layer& layer, const Activations& x);
    /// For routers with a bias, which the kernel does not have.
    void route_with_bias(AssayContext& context, const Layer& layer, const Activations& x);
    /// Overwrites what the router chose.
    void choose_at_random(int layer, std::span<const int> positions, int experts);
    /// The union of what the mask chooses.
    void list_active(int tokens, int experts);
    /// That all active experts together read.
    std::uint64_t bytes_of(const Layer& layer) const;

    int width_;
    std::optional<RandomExperts> random_;
    std::vector<Layer> layers_;
    kernels::StreamedMemory weights_;
    std::vector<std::uint8_t> mask_;  // [largest_batch][experts]
    std::vector<float> logits_;       // [largest_batch][experts], of routers with a bias
    std::vector<std::int32_t> active_;
    std::int32_t active_count_ = 0;
    kernels::StreamedMemory workspace_;
    std::size_t workspace_bytes_ = 0;
    std::uint64_t bytes_of_last_run_ = 0;
};

}  // namespace assay::decode
