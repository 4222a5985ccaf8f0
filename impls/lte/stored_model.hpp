// What a decode step reads of a model: bytes by part, as they are stored.
#pragma once

#include <cstdint>
#include <string>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::lte {

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

}  // namespace assay::lte
