// A batch of consecutive tokens through all layers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impls/decode/attention.hpp"
#include "impls/decode/feed_forward_networks.hpp"
#include "impls/decode/products.hpp"
#include "impls/decode/weights.hpp"

namespace assay::decode {

enum class Logits { none, last, each };  ///< of which tokens of the batch they are wanted

class ForwardPass {
  public:
    /// positions: of the cache. threads: 0: all allowed cores. Throws UserError.
    ForwardPass(const nn::DecoderConfig& config, Weights weights, int positions, int threads);

    const nn::DecoderConfig& config() const { return config_; }
    int positions() const { return cache_.positions(); }

    /// In place of the dense ones, whose memory is given back.
    void replace_networks(std::unique_ptr<FeedForwardNetworks> networks);

    /// ids: at most largest_batch, inside the vocabulary; they take the positions from `position`
    /// on, which must be in the cache.
    void run(std::span<const int> ids, int position, Logits wanted);
    /// Of the last run: [vocabulary], or [ids][vocabulary].
    std::span<const float> logits() const { return logits_; }

    std::uint64_t bytes_per_token(int position) const;

  private:
    struct DestroyContext {
        void operator()(AssayContext* context) const { kernels_of_processor()->destroy(context); }
    };
    static const AssayKernels* kernels_of_processor();
    float* row(std::vector<float>& rows, int token, int width) {
        return rows.data() + token * width;
    }

    void embed(std::span<const int> ids, int position);
    void normalise(const Norm& norm, int first, int tokens);
    void attend(int layer, int position, int tokens);
    void feed_forward(int layer, int position, int tokens);
    void add_to_stream(int tokens);
    void rotate_token(int token, int position);

    nn::DecoderConfig config_;
    Weights weights_;
    std::unique_ptr<FeedForwardNetworks> sparse_;  ///< null: dense
    std::unique_ptr<AssayContext, DestroyContext> context_;
    KvCache cache_;
    Attention attention_;
    std::vector<double> frequencies_;   // [head width / 2], radians per position; llama
    std::vector<float> cosine_, sine_;  // of one position

    Activations normalised_, mixed_, hidden_;  // what products multiply
    std::vector<float> stream_;                // [tokens][width], the residual stream
    std::vector<float> query_, key_, value_;   // [tokens][heads · head width]
    std::vector<float> change_;                // [tokens][width], to be added to the stream
    std::vector<float> logits_;
};

}  // namespace assay::decode
