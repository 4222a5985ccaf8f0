#include "impls/decode/experiments/random_model_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/decode/weights/weights.hpp"
#include "impls/nn/files/gguf_writer.hpp"
#include "impls/nn/hashes.hpp"
#include "kernels/cpu/random_weights.hpp"

namespace assay::decode {
namespace {

/// The tensors of a file, one by one.
class Writer {
  public:
    Writer(nn::TensorType type, std::uint64_t seed) : type_(type), seed_(seed << 40) {
        if (type != nn::TensorType::bf16)
            pattern_ = kernels::random_weight_pattern(kernel_type(type), seed);
    }

    void matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
        tensors_.push_back({name, type_, {rows, columns}, weights(rows, columns)});
        bytes_ += tensors_.back().bytes.size();
    }
    void norm(const std::string& name, int width) {
        const std::vector<float> ones(static_cast<std::size_t>(width), 1.0F);
        tensors_.push_back(
            {name, nn::TensorType::f32, {width}, stored_as(nn::TensorType::f32, ones)});
    }
    const std::vector<nn::TensorToWrite>& tensors() const { return tensors_; }
    std::uint64_t bytes() const { return bytes_; }

  private:
    std::vector<std::byte> weights(std::int64_t rows, std::int64_t columns) {
        if (!pattern_.empty()) {
            std::vector<std::byte> bytes(nn::stored_bytes(type_, rows * columns));
            kernels::repeat_pattern(pattern_, bytes);
            return bytes;
        }
        std::vector<float> values(static_cast<std::size_t>(rows * columns));
        const float scale = 2 / std::sqrt(static_cast<float>(columns));
        for (float& value : values)
            value = scale * (static_cast<float>(nn::counter_hash(seed_++) >> 40) * 0x1p-24F - 0.5F);
        return stored_as(type_, values);
    }

    nn::TensorType type_;
    std::uint64_t seed_, bytes_ = 0;
    std::vector<std::byte> pattern_;  ///< of the q types
    std::vector<nn::TensorToWrite> tensors_;
};

std::int64_t weights_of_layer(const RandomModel& model) {
    const std::int64_t queries = model.heads * model.head_width,
                       keys = model.kv_heads * model.head_width;
    return model.width * (2 * queries + 2 * keys + 3 * std::int64_t{model.hidden});
}

}  // namespace

RandomModel random_model_of(int mebibytes, int context) {
    RandomModel model;
    model.context = context;
    const double embedding_bytes = 2.0 * model.vocabulary * model.width;
    const double layer_bytes = 2.0 * static_cast<double>(weights_of_layer(model));
    const double layers = (mebibytes * 0x1p20 - embedding_bytes) / layer_bytes;
    model.layers = std::max(1, static_cast<int>(std::lround(layers)));
    return model;
}

std::uint64_t write_random_model(const std::filesystem::path& path, const RandomModel& model,
                                 std::uint64_t seed) {
    const int queries = model.heads * model.head_width, keys = model.kv_heads * model.head_width;
    Writer writer(model.type, seed);
    writer.matrix("token_embd.weight", model.vocabulary, model.width);
    for (int layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        writer.norm(prefix + "attn_norm.weight", model.width);
        writer.matrix(prefix + "attn_q.weight", queries, model.width);
        writer.matrix(prefix + "attn_k.weight", keys, model.width);
        writer.matrix(prefix + "attn_v.weight", keys, model.width);
        writer.matrix(prefix + "attn_output.weight", model.width, queries);
        writer.norm(prefix + "ffn_norm.weight", model.width);
        writer.matrix(prefix + "ffn_gate.weight", model.hidden, model.width);
        writer.matrix(prefix + "ffn_up.weight", model.hidden, model.width);
        writer.matrix(prefix + "ffn_down.weight", model.width, model.hidden);
    }
    writer.norm("output_norm.weight", model.width);
    nn::write_gguf(path,
                   {{"general.architecture", "llama"},
                    {"general.name", "random"},
                    {"llama.block_count", model.layers},
                    {"llama.context_length", model.context},
                    {"llama.embedding_length", model.width},
                    {"llama.feed_forward_length", model.hidden},
                    {"llama.attention.head_count", model.heads},
                    {"llama.attention.head_count_kv", model.kv_heads},
                    {"llama.rope.freq_base", 10000.0},
                    {"llama.rope.dimension_count", model.head_width},
                    {"llama.attention.layer_norm_rms_epsilon", 1e-5},
                    {"llama.vocab_size", model.vocabulary},
                    {"tokenizer.ggml.model", "no_vocab"}},
                   writer.tensors());
    return writer.bytes();
}

}  // namespace assay::decode
