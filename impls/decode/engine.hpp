// Decoding on the CPU, one sequence at a time, bound by memory bandwidth: weights stay in the type
// they are stored in, products run in kernels/, no libtorch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "kernels/assay_kernels.h"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::decode {

/// In which type the weight matrices are kept.
/// stored: as the file has them (quantised rows stay quantised; arithmetic in fp32, so results
/// equal fp32 up to the order of sums).
enum class WeightType { stored, f32, bf16 };
std::optional<WeightType> parse_weight_type(std::string_view);

struct EngineOptions {
    WeightType weights = WeightType::stored;
    int threads = 0;  ///< 0: all cores this process may use
    int context = 0;  ///< positions of the KV cache; 0: the model's context, at most 4096
    /// Whether quantised and bf16 rows may be rearranged where the processor has AVX-512 with int8
    /// dot products (same bits in another order, faster). Off: the kernels' plain rows.
    bool interleave = true;
    /// Whether a file's feed-forward networks leave out what it says they do
    /// (impls/nn/files/ffn_sparsity.hpp). Off: they are dense.
    bool sparse = true;
};

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

class Engine {
  public:
    /// A file that leaves out neurons (ffn_sparsity.hpp) is decoded so. Throws UserError.
    Engine(const nn::TensorFile& file, const EngineOptions& options);
    /// Random weights of a given shape, for latency alone.
    Engine(const nn::DecoderConfig& config, AssayType type, const EngineOptions& options,
           std::uint64_t seed);
    ~Engine();

    const nn::DecoderConfig& config() const;

    /// Replaces the dense feed-forward networks of all layers.
    void use_sparse(std::vector<SparseLayer> layers, std::optional<RandomExperts> random = {});

    /// Feeds ids after what is already in the cache; returns the logits after the last,
    /// [vocabulary], valid until the next call. Throws UserError when the context is full.
    std::span<const float> feed(std::span<const int> ids);
    /// The same for at most `largest_chunk` ids, but the logits after each of them,
    /// [ids][vocabulary].
    std::span<const float> feed_chunk(std::span<const int> ids);
    static constexpr int largest_chunk = 16;
    void reset();  ///< empties the cache
    /// Takes the cache back to its first `position` positions. Throws std::invalid_argument when
    /// there are not so many.
    void rewind(int position);
    int position() const;
    int context() const;  ///< positions that the cache has room for

    /// Weight and KV-cache bytes that decoding one token at the present position must read: the
    /// bytes-moved bound is this over the achievable bandwidth. Sparse layers: of the last token.
    std::uint64_t bytes_per_token() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::decode
