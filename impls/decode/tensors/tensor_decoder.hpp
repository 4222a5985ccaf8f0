// Decoding on whatever device libtorch and the kernels have: embedding, norms, rotary positions and
// attention as tensor operations, matrices and feed-forward networks by the kernels. On the CPU it
// computes what the engine does; on a GPU only the device differs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "impls/decode/networks/feed_forward_networks.hpp"
#include "impls/decode/tensors/tensor_weights.hpp"
#include "kernels/assay_kernels.h"

namespace assay::decode {

/// Which experts take part.
struct ExpertSelection {
    enum class By {
        all,     ///< the dense model, no router
        router,  ///< x · router > logit_threshold
        random   ///< as `random` says; the routers run too, for their time, and are not heard
    };
    By by = By::all;
    float logit_threshold = 0;
    RandomExperts random;
};

class TensorDecoder {
  public:
    /// kernels and context: of the weights' device, on libtorch's current stream there; must
    /// outlive the decoder. cache_type: of keys and values. Throws UserError: a selection that
    /// needs routers where there are none, more positions than the model's context.
    TensorDecoder(std::shared_ptr<const TensorWeights> weights, const AssayKernels& kernels,
                  AssayContext* context, int positions, const ExpertSelection& selection = {},
                  at::ScalarType cache_type = at::kFloat);

    /// Feeds one id after what is in the cache; the logits after it, fp32 [vocabulary] on the
    /// device, valid until the next call. Launches only: nothing waits for the device, and what is
    /// launched depends on position and id alone, so that it can be recorded and replayed. Throws
    /// UserError when the context is full, NotSupportedHere with the kernels' reason.
    const at::Tensor& feed(int id);
    /// Takes the cache back to its first `position` positions.
    void rewind(int position);
    int position() const { return position_; }

    /// Weights and cache that decoding a token at the present position must read. Waits.
    std::uint64_t bytes_per_token() const;

  private:
    void normalise(const at::Tensor& weight);
    void multiply(const at::Tensor& weights, const at::Tensor& x, const at::Tensor& y) const;
    void attend(std::size_t layer);
    void feed_forward(std::size_t layer);
    void must(AssayStatus status) const;
    void choose_at_random(int positions);

    std::shared_ptr<const TensorWeights> weights_;
    const AssayKernels& kernels_;
    AssayContext* context_;
    ExpertSelection selection_;
    int positions_, position_ = 0;
    AssayType type_;
    at::Tensor cosine_, sine_;               ///< [positions, hw]; sine_ with its first half negated
    std::vector<at::Tensor> keys_, values_;  ///< by layer: [kv_heads, positions, hw]
    at::Tensor stream_, normalised_, mixed_, change_, query_key_value_, logits_;  ///< fp32
    at::Tensor workspace_;
    at::Tensor routed_mask_, routed_active_;  ///< by layer, what routers say: [layers, N]
    at::Tensor routed_count_;                 ///< [layers]
    at::Tensor active_;                       ///< random: [positions, layers, N]; all: [N]
    at::Tensor count_;                        ///< [1]
};

}  // namespace assay::decode
