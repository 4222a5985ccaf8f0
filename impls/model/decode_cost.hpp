// What decoding a token costs a model: FLOPs, bytes as they are stored, and the least time that a
// device needs for both. Arithmetic, no measurement.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::model {

/// The unit in which papers print "GFLOPs": LTE's 12.06 for LLaMA-7B are 12.0625 times this.
inline constexpr double gibiflop = 1024.0 * 1024.0 * 1024.0;

/// FLOPs of one token, one layer or all of them.
struct TokenFlops {
    double attention = 0;  ///< query, key, value and output projections
    double ffn = 0;        ///< what is not left out
    double router = 0;     ///< one bias-free matrix, width × experts

    double total() const { return attention + ffn + router; }
};

/// Of one layer, of whose feed-forward network a share `sparsity` (0 to 1) is left out. Products
/// with weight matrices only, a multiply and an add counted as two: no scores over earlier tokens,
/// no norms and activation functions. routed_experts: among how many a router chooses; 0: nothing
/// is paid for the choice.
TokenFlops layer_flops(const nn::DecoderConfig& config, double sparsity = 0,
                       int routed_experts = 0);

/// Of all layers; embedding and output projection are not counted (as in LTE's Table 1).
TokenFlops token_flops(const nn::DecoderConfig& config, double sparsity = 0,
                       int routed_experts = 0);

/// The sparsity at which token_flops() totals `flops`. Outside [0, 1] where no sparsity does.
double implied_sparsity(const nn::DecoderConfig& config, double flops, int routed_experts);

/// Bytes of one part and the types they are stored in ("q4_1", "q4_1 and q8_0").
struct StoredPart {
    double bytes = 0;
    std::string types;
};

struct StoredModel {
    nn::DecoderConfig config;
    std::string origin;        ///< "smollm2.gguf", "shape llama2-7b, weights assumed bf16"
    StoredPart attention;      ///< projection matrices of all layers
    StoredPart feed_forward;   ///< matrices of all layers
    StoredPart output;         ///< the matrix in front of the logits; the embedding's where tied
    StoredPart embedding_row;  ///< of one token; with a position's where these are learned
    StoredPart vectors;        ///< norms and biases, all of which every step reads
};

/// Of a model file. Throws UserError as read_decoder_config() does.
StoredModel stored_model(const nn::TensorFile& file);

/// Of a shape whose matrices are all stored in `type`, vectors as f32. Throws UserError where a
/// row is not a whole number of the type's blocks.
StoredModel stored_shape(const nn::DecoderConfig& config, nn::TensorType type);

/// Numbers that are in no model file (the cache, routers) are assumed to have 16 bits.
inline constexpr double assumed_bytes = 2;

/// Work of one part of a step, for the whole batch and all layers.
struct PartWork {
    std::string part;  ///< "attention", "cache", "ffn", "output", "other"
    double flops = 0;
    double bytes = 0;
};

/// One step of the dense model: each of `batch` sequences with `context` tokens in the cache is
/// continued by one. The parts in that order.
std::vector<PartWork> decode_step(const StoredModel& model, int batch, int context);

/// Seconds of a step: the sum over parts, which follow one another, of max(bytes / bandwidth,
/// FLOPs / peak) at the efficiencies of the profile.
double expected_seconds(std::span<const PartWork> step, const DeviceProfile& device);

}  // namespace assay::model
