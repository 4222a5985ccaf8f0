// The weights of a model, in memory of their own, in the order in which decoding reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/stored_tensor.hpp"
#include "kernels/assay_kernels.h"
#include "kernels/cpu/streamed_memory.hpp"
#include "suite/base/describe.hpp"

namespace assay::decode {

/// In which type the weight matrices are kept.
/// stored: as the file has them (quantised rows stay quantised; arithmetic in fp32, so results
/// equal fp32 up to the order of sums).
enum class WeightType { stored, f32, bf16 };
ASSAY_NAMES(WeightType, stored, f32, bf16)

struct ModelOptions {
    WeightType weights = WeightType::stored;
    /// Whether a file's feed-forward networks leave out what it says they do
    /// (impls/nn/files/ffn_sparsity.hpp). Off: they are dense.
    bool sparse = true;
};

/// Rows of a stored type somewhere in a large block of memory, arranged as
/// impls/decode/weights/interleaved.hpp says.
struct WeightMatrix {
    AssayType type = ASSAY_F32;
    int rows = 0, columns = 0;
    const std::byte* weights = nullptr;  ///< null: there is no such matrix
    const float* bias = nullptr;         ///< [rows] or null

    explicit operator bool() const { return weights != nullptr; }
};

AssayType kernel_type(nn::TensorType type);
nn::TensorType tensor_type(AssayType type);

/// Bytes of one row.
std::size_t row_bytes(const WeightMatrix& matrix);
/// Bytes of the matrix and its bias: what a product must read.
std::size_t stored_bytes(const WeightMatrix& matrix);
/// One row as floats. out: [columns].
void read_row(const WeightMatrix& matrix, int row, std::span<float> out);

struct Norm {
    std::vector<float> weight, bias;  ///< bias: LayerNorm; empty: RMSNorm
};

struct LayerWeights {
    Norm attention_norm, ffn_norm;
    Norm query_norm, key_norm;  ///< over a head; empty: there are none
    WeightMatrix query, key, value, attention_out;
    WeightMatrix gate, up, down;  ///< gate: swiglu only; all absent where the layer is sparse
};

struct Weights {
    std::vector<LayerWeights> layers;
    Norm final_norm;
    WeightMatrix output;     ///< [vocabulary, width]; the embedding too where these are tied
    WeightMatrix embedding;  ///< [vocabulary, width], of which rows are looked up
    std::vector<float> position_embedding;  ///< [context, width], gpt2

    kernels::StreamedMemory matrices, ffn_matrices;  ///< what the matrices point into
    std::vector<std::vector<float>> biases;
    std::string digest;  ///< of names, types and the bytes that were copied, however arranged
};

class WeightSource;

/// Throws UserError: a tensor is missing or has the wrong shape.
Weights weights_of(const WeightSource& source, const nn::DecoderConfig& config);
Weights weights_of_file(const nn::TensorFile& file, const nn::DecoderConfig& config,
                        const ModelOptions& options);

/// Matrices of `type` with random weights of about 1/sqrt(columns); norms 1, biases 0.
/// Throws UserError where the rows are no whole number of blocks.
Weights random_weights(const nn::DecoderConfig& config, AssayType type, std::uint64_t seed);

/// Where the engine's weights come from: a file, random numbers, or whoever has them.
class WeightSource {
  public:
    virtual ~WeightSource() = default;
    /// In which type a matrix is kept.
    virtual AssayType type_of(std::string_view name) const = 0;
    /// Its rows in that type, one after another. Name: of nn::decoder_config.hpp.
    virtual void rows(std::string_view name, AssayType type, std::span<std::byte> out) const = 0;
    /// A norm, bias or position embedding.
    virtual void floats(std::string_view name, std::span<float> out) const = 0;
};

/// Keeps references to both. Throws UserError on use.
std::unique_ptr<WeightSource> file_source(const nn::TensorFile& file,
                                          const nn::DecoderConfig& config, WeightType weights);
std::unique_ptr<WeightSource> random_source(AssayType type, std::uint64_t seed);

}  // namespace assay::decode
