#include "impls/decode/weights/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/decode/weights/interleaved.hpp"
#include "kernels/cpu/element_types.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::decode {

AssayType kernel_type(nn::TensorType type) {
    switch (type) {
        case nn::TensorType::f32:
            return ASSAY_F32;
        case nn::TensorType::f16:
            return ASSAY_F16;
        case nn::TensorType::bf16:
            return ASSAY_BF16;
        case nn::TensorType::q8_0:
            return ASSAY_Q8_0;
        case nn::TensorType::q4_0:
            return ASSAY_Q4_0;
        case nn::TensorType::q4_1:
            return ASSAY_Q4_1;
    }
    throw std::logic_error("no such tensor type");
}

nn::TensorType tensor_type(AssayType type) {
    switch (type) {
        case ASSAY_F32:
            return nn::TensorType::f32;
        case ASSAY_F16:
            return nn::TensorType::f16;
        case ASSAY_BF16:
            return nn::TensorType::bf16;
        case ASSAY_Q8_0:
            return nn::TensorType::q8_0;
        case ASSAY_Q4_0:
            return nn::TensorType::q4_0;
        case ASSAY_Q4_1:
            return nn::TensorType::q4_1;
    }
    throw std::logic_error("no such type of weights");
}

std::size_t row_bytes(const WeightMatrix& matrix) {
    return kernels::row_bytes(matrix.type, matrix.columns);
}

std::size_t stored_bytes(const WeightMatrix& matrix) {
    if (!matrix) return 0;
    const auto rows = static_cast<std::size_t>(matrix.rows);
    return rows * (row_bytes(matrix) + (matrix.bias ? sizeof(float) : 0));
}

void read_row(const WeightMatrix& matrix, int row, std::span<float> out) {
    const nn::TensorType type = tensor_type(matrix.type);
    constexpr int piece = 128;  // columns
    std::byte plain[piece * sizeof(float)];
    for (int first = 0; first < matrix.columns; first += piece) {
        const int count = std::min(piece, matrix.columns - first);
        take_row(matrix.type, matrix.weights, matrix.columns, row, first, count, plain);
        nn::to_floats(
            type, plain,
            out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    }
}

namespace {

using Shape = std::vector<std::int64_t>;

void add_to(Sha256& digest, std::string_view name, AssayType type,
            std::span<const std::byte> bytes) {
    digest.update(name);
    digest.update(fmt::format(" {} {}\n", static_cast<int>(type), bytes.size()));
    digest.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Lays matrices one behind the other into one block of memory: named first, then allocated and
// read.
class MatrixArena {
  public:
    explicit MatrixArena(const WeightSource& source) : source_(source) {}

    void add(WeightMatrix& matrix, const std::string& name, const Shape& shape) {
        matrix.type = source_.type_of(name);
        matrix.rows = static_cast<int>(shape[0]);
        matrix.columns = static_cast<int>(shape[1]);
        if (matrix.columns % kernels::weights_per_unit(matrix.type) != 0)
            throw UserError("parameter " + name + ": rows of " + std::to_string(matrix.columns) +
                            " weights are no whole number of quantised blocks");
        planned_.push_back({&matrix, name, bytes_});
        constexpr std::size_t line = 64;
        const std::size_t room = interleaved_bytes(matrix.type, matrix.rows, matrix.columns);
        bytes_ += (room + line - 1) / line * line;
    }

    kernels::StreamedMemory read(Sha256& digest) {
        // Prefetching reaches beyond the last row: harmless, and not worth room of its own.
        kernels::StreamedMemory memory =
            kernels::allocate_streamed(std::max(bytes_, std::size_t{1}));
        std::vector<std::byte> plain;
        for (const Planned& each : planned_) {
            WeightMatrix& matrix = *each.matrix;
            const std::size_t bytes = static_cast<std::size_t>(matrix.rows) * row_bytes(matrix);
            std::byte* const place = memory.get() + each.at;
            plain.resize(bytes);
            source_.rows(each.name, matrix.type, plain);
            add_to(digest, each.name, matrix.type, plain);
            interleave(matrix.type, plain.data(), matrix.rows, matrix.columns, place);
            matrix.weights = place;
        }
        return memory;
    }

  private:
    struct Planned {
        WeightMatrix* matrix;
        std::string name;
        std::size_t at;
    };

    const WeightSource& source_;
    std::vector<Planned> planned_;
    std::size_t bytes_ = 0;
};

class WeightLoader {
  public:
    WeightLoader(const WeightSource& source, const nn::DecoderConfig& config)
        : source_(source), config_(config), attention_(source), feed_forward_(source) {}

    Weights run() {
        weights_.layers.resize(static_cast<std::size_t>(config_.layers));
        for (int i = 0; i < config_.layers; ++i) add_layer(i);
        add_shared();
        weights_.matrices = attention_.read(digest_);
        weights_.ffn_matrices = feed_forward_.read(digest_);
        weights_.digest = digest_.hex();
        if (config_.tied_embeddings) weights_.embedding = weights_.output;
        return std::move(weights_);
    }

  private:
    std::vector<float> vector_of(const std::string& name, std::int64_t elements) {
        std::vector<float> values(static_cast<std::size_t>(elements));
        source_.floats(name, values);
        add_to(digest_, name, ASSAY_F32, std::as_bytes(std::span(values)));
        return values;
    }
    // A bias of a matrix lives with the weights, and does not move.
    const float* bias_of(const std::string& name, std::int64_t elements) {
        return weights_.biases.emplace_back(vector_of(name, elements)).data();
    }

    void add_layer(int index) {
        LayerWeights& layer = weights_.layers[static_cast<std::size_t>(index)];
        const std::string prefix = "layer" + std::to_string(index) + "/";
        for (const nn::NamedShape& each : nn::layer_parameters(config_)) {
            const std::string name = prefix + each.name;
            if (WeightMatrix* const matrix = matrix_of(layer, each.name)) {
                const bool ffn =
                    matrix == &layer.gate || matrix == &layer.up || matrix == &layer.down;
                (ffn ? feed_forward_ : attention_).add(*matrix, name, each.shape);
            } else if (each.name == "query_norm") {
                layer.query_norm.weight = vector_of(name, each.shape[0]);
            } else if (each.name == "key_norm") {
                layer.key_norm.weight = vector_of(name, each.shape[0]);
            } else if (each.name == "attention_norm") {
                layer.attention_norm.weight = vector_of(name, each.shape[0]);
            } else if (each.name == "attention_norm_bias") {
                layer.attention_norm.bias = vector_of(name, each.shape[0]);
            } else if (each.name == "ffn_norm") {
                layer.ffn_norm.weight = vector_of(name, each.shape[0]);
            } else if (each.name == "ffn_norm_bias") {
                layer.ffn_norm.bias = vector_of(name, each.shape[0]);
            } else {  // "…_bias" of a matrix
                const std::string own = each.name.substr(0, each.name.size() - 5);
                matrix_of(layer, own)->bias = bias_of(name, each.shape[0]);
            }
        }
    }

    void add_shared() {
        for (const nn::NamedShape& each : nn::shared_parameters(config_)) {
            if (each.name == "final_norm")
                weights_.final_norm.weight = vector_of(each.name, each.shape[0]);
            else if (each.name == "final_norm_bias")
                weights_.final_norm.bias = vector_of(each.name, each.shape[0]);
            else if (each.name == "position_embedding")
                weights_.position_embedding = vector_of(each.name, each.shape[0] * each.shape[1]);
            else if (each.name == "token_embedding" && !config_.tied_embeddings)
                attention_.add(weights_.embedding, each.name, each.shape);
            else
                attention_.add(weights_.output, each.name, each.shape);
        }
    }

    static WeightMatrix* matrix_of(LayerWeights& layer, std::string_view name) {
        if (name == "query") return &layer.query;
        if (name == "key") return &layer.key;
        if (name == "value") return &layer.value;
        if (name == "attention_out") return &layer.attention_out;
        if (name == "gate") return &layer.gate;
        if (name == "up") return &layer.up;
        if (name == "down") return &layer.down;
        return nullptr;
    }

    const WeightSource& source_;
    const nn::DecoderConfig& config_;
    Weights weights_;
    Sha256 digest_;
    MatrixArena attention_, feed_forward_;
};

}  // namespace

Weights weights_of(const WeightSource& source, const nn::DecoderConfig& config) {
    return WeightLoader(source, config).run();
}

Weights weights_of_file(const nn::TensorFile& file, const nn::DecoderConfig& config,
                        const ModelOptions& options) {
    return weights_of(*file_source(file, config, options.weights), config);
}

Weights random_weights(const nn::DecoderConfig& config, AssayType type, std::uint64_t seed) {
    return weights_of(*random_source(type, seed), config);
}

}  // namespace assay::decode
