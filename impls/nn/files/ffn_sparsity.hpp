// What a model file says about neurons that its feed-forward networks leave out from token to
// token: GGUF keys "assay.sparse.*" of our own, written by `lte/x_product` and read by the decoding
// engine. Programs that do not know them take the networks of "cats" and "teal" for dense; a file
// of "lte" has tensors besides, which most refuse.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/gguf_writer.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

/// "lte" (arXiv 2402.06126v4, Eq. 2): neurons lie expert by expert; an expert is computed whole
/// where x · weights + bias exceeds the threshold, x being what the network sees. Tensors
/// blk.<layer>.ffn_router.weight, and .bias where there is one.
struct RoutedExperts {
    struct Router {
        std::vector<float> weights;  ///< [experts][width]
        std::vector<float> bias;     ///< [experts], or empty: none
    };
    int expert_size = 0;  ///< neurons
    float logit_threshold = 0;
    std::vector<Router> routers;  ///< by layer
};

/// "cats" (COLM 2024): neurons whose |silu(gate·x)| (without a gate: |act(up·x)|) exceeds the
/// threshold of their layer.
struct GateThresholds {
    std::vector<float> least;  ///< by layer
};

/// "teal" (ICLR 2025): of the inputs x of gate and up, and h of down, those whose magnitude exceeds
/// the threshold of their layer.
struct InputThresholds {
    std::vector<float> input, hidden;  ///< by layer
};

using FfnSparsity = std::variant<RoutedExperts, GateThresholds, InputThresholds>;
std::string_view method_of(const FfnSparsity&);  ///< "lte", "cats", "teal"
std::string digest_of(const FfnSparsity&);       ///< SHA-256 of all that it says

/// nullopt: the file's networks are dense. Throws UserError: a method that is not one of these, or
/// routers or thresholds that are missing, not finite or do not fit the model.
std::optional<FfnSparsity> read_ffn_sparsity(const TensorFile&, const DecoderConfig&);

/// Adds it to what is about to be written.
void put_ffn_sparsity(const FfnSparsity&, const DecoderConfig&, nlohmann::json& metadata,
                      std::vector<TensorToWrite>& tensors);

}  // namespace assay::nn
