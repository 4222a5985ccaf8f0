// Tokens of many sequences, side by side through all layers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/attention.hpp"
#include "impls/decode/cpu/loops.hpp"
#include "impls/decode/cpu/paged_cache.hpp"
#include "impls/decode/cpu/products.hpp"
#include "impls/decode/networks/feed_forward_networks.hpp"
#include "impls/decode/weights/weights.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::decode {

/// A model in memory. Not to be used by two passes at the same time: networks have memory to work
/// in.
struct CpuModel final : ModelWeights {
    nn::DecoderConfig config;
    Weights weights;
    std::unique_ptr<FeedForwardNetworks> networks;  ///< null: dense
    std::string networks_digest;                    ///< of what they add to the weights

    std::string digest() const override { return weights.digest + networks_digest; }

    /// In place of the dense ones, whose memory is given back.
    void replace_networks(std::unique_ptr<FeedForwardNetworks> with, std::string digest);
    /// Matrices, norms and biases that a pass reads whatever its tokens are; without networks that
    /// leave out neurons.
    std::uint64_t bytes_of_every_pass() const;
    /// A token's row of each embedding.
    std::uint64_t bytes_of_embedding() const;
};

/// A file that leaves out neurons (ffn_sparsity.hpp) is loaded so. Throws UserError.
std::shared_ptr<CpuModel> load_model(const nn::TensorFile& file, const ModelOptions& options);
/// A dense one. Throws UserError.
std::shared_ptr<CpuModel> load_model(const WeightSource& source, const nn::DecoderConfig& config);

struct PassOptions {
    int blocks = 0;   ///< of the cache
    int threads = 0;  ///< 0: all allowed cores
    KvType kv = KvType::f32;
    ActivationType activations = ActivationType::exact;
    const Loops* loops = nullptr;  ///< null: the processor's fastest
};

class ForwardPass {
  public:
    /// Throws UserError.
    ForwardPass(std::shared_ptr<CpuModel> model, const PassOptions& options);

    const CpuModel& model() const { return *model_; }
    /// Whether it is of the same shape, all matrices of the same types.
    bool fits(const CpuModel& model) const;
    /// Other weights, which fit; what is in the cache stays.
    void use(std::shared_ptr<CpuModel> model);

    /// Networks that leave out neurons take fewer at a time than products do.
    int most_tokens() const { return model_->networks ? largest_batch : largest_pass; }
    /// tokens: at most most_tokens(), inside the vocabulary, each with the blocks of its position
    /// and all before; of one sequence in order. wanted: those of whose logits there is need,
    /// ascending. A token's bits do not depend on the others.
    void run(std::span<const FedToken> tokens, std::span<const int> wanted);
    /// What the last run had to read at least: weights once, each sequence's keys and values once.
    std::uint64_t bytes_of_last_run() const;
    /// Of the last run: [wanted][vocabulary].
    std::span<float> logits(int wanted) {
        const auto vocabulary = static_cast<std::size_t>(config_.vocabulary);
        return {logits() + static_cast<std::size_t>(wanted) * vocabulary, vocabulary};
    }

    /// Whether positions are rotations of queries and keys (RoPE) and nothing else.
    bool rotates() const {
        return !frequencies_.empty() && model_->weights.position_embedding.empty();
    }
    /// rotates() must hold.
    void link(const LinkedPositions& linked);

    PagedCache& cache() { return cache_; }
    const PagedCache& cache() const { return cache_; }
    AssayContext& context() { return *context_; }
    const Loops& loops() const { return loops_; }

  private:
    struct DestroyContext {
        void operator()(AssayContext* context) const { kernels_of_processor()->destroy(context); }
    };
    static const AssayKernels* kernels_of_processor();
    float* logits() { return reinterpret_cast<float*>(logits_.get()); }
    float* row(std::vector<float>& rows, int token, int width) {
        return rows.data() + token * width;
    }
    /// work(token) for each, on all threads where it pays.
    template <class Work>
    void each_token(int tokens, const Work& work);

    void note_positions(std::span<const FedToken> tokens);
    void embed(int token, const FedToken& fed);
    /// Adds what the last layer changed, and prepares the next one's input: of one token, of all.
    void add_and_normalise(const Norm& norm, int token, float* out);
    void add_and_normalise(const Norm& norm, int tokens);
    void attend(int layer, std::span<const FedToken> tokens);
    void feed_forward(int layer, std::span<const FedToken> tokens);
    /// Queries and keys of a token: normalised where the layer does that, scaled, rotated.
    void rotate_token(const LayerWeights& layer, int token);

    std::shared_ptr<CpuModel> model_;
    const nn::DecoderConfig config_;
    const Loops& loops_;
    std::unique_ptr<AssayContext, DestroyContext> context_;
    PagedCache cache_;
    Attention attention_;
    std::vector<double> frequencies_;   // [head width / 2], radians per position; llama
    std::vector<float> cosine_, sine_;  // [tokens][head width / 2]
    std::vector<float> no_change_;      // [head width] of zeros

    Activations normalised_, mixed_, hidden_;  // what products multiply
    std::vector<float> stream_;                // [tokens][width], the residual stream
    std::vector<float> query_, key_, value_;   // [tokens][heads · head width]
    // Elsewhere than what they are made of, whose lines are in the caches of those who multiplied.
    std::vector<float> rotated_query_, rotated_key_;
    std::vector<float> change_;  // [tokens][width], to be added to the stream
    /// [largest_pass][vocabulary], touched as far as wanted. In large pages: products write a line
    /// to each row by turns.
    kernels::StreamedMemory logits_;
    std::vector<int> positions_;  // of the tokens of the last run
    std::uint64_t bytes_of_every_pass_;
    std::int64_t positions_read_ = 0;  // of the cache, in the last run
};

}  // namespace assay::decode
