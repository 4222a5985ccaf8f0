// A trained decoder on its way into a GGUF file.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/files/gguf_writer.hpp"

namespace assay::nn {

struct DecoderFile {
    nlohmann::json metadata;  ///< without a tokenizer
    std::vector<TensorToWrite> tensors;
};

/// What read_decoder_config() and Decoder::load() read back: the configuration, and the parameters
/// under GGUF's names, matrices in `matrices` (f32 or bf16), the rest in f32. Throws UserError for
/// what GGUF's architectures llama, qwen2, qwen3 and gpt2 do not have.
DecoderFile file_of(const Decoder&, TensorType matrices);

/// tokenizer.* of a model over bytes (Tokenizer::bytes()).
nlohmann::json byte_tokenizer_metadata();

}  // namespace assay::nn
