// Where a file keeps a parameter, how its arrangement differs from ours, and its values in ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::nn {

struct ParameterSource {
    std::vector<std::int64_t> shape;  ///< of the parameter: [outputs, inputs] or [outputs]

    std::string tensor;
    std::vector<std::int64_t> stored_shape;  ///< of the whole tensor
    /// [inputs, outputs] is stored: the Conv1D of Hugging Face's GPT-2.
    bool transposed = false;
    /// Query, key and value lie in one tensor; ours is the outputs from `first_output` on.
    bool fused = false;
    std::int64_t first_output = 0;
    /// Rows of each head are stored as 0, hw/2, 1, hw/2 + 1, …: GGUF's llama rotates neighbours
    /// where we (and Hugging Face, and GGUF's qwen2 and qwen3) rotate halves.
    bool interleaved = false;
};

/// `name`: of decoder_config.hpp, with "layer<i>/" where it is a layer's. Throws
/// std::invalid_argument when the configuration has no such parameter. The tensor need not exist.
ParameterSource parameter_source(const TensorFile&, const DecoderConfig&, std::string_view name);
/// The same in a GGUF file that has yet to be written.
ParameterSource gguf_parameter_source(const DecoderConfig&, std::string_view name);
/// GGUF's name of the architecture that computes what the configuration says: llama, qwen2, qwen3
/// or gpt2. Throws UserError where there is none: biases and norms of queries and keys together.
std::string_view gguf_architecture(const DecoderConfig&);

/// Stored rows of the interleaved rows of `heads` heads: result[our row] = stored row.
std::vector<std::int32_t> interleaved_rows(std::int64_t outputs, int head_width);

/// Reads one parameter as floats in our layout, whatever the file's: GPT-2's transposed Conv1D and
/// fused qkv are taken apart, GGUF's interleaved query and key rows are put back (our rotary
/// embedding rotates the halves [0, hw/2) and [hw/2, hw) against each other, as Hugging Face does).
/// Throws UserError (missing tensor, wrong shape).
void read_parameter(const TensorFile&, const DecoderConfig&, std::string_view name,
                    std::span<float> out);

}  // namespace assay::nn
