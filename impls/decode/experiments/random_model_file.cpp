#include "impls/decode/experiments/random_model_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/nn/files/gguf_writer.hpp"
#include "impls/nn/hashes.hpp"

namespace assay::decode {
namespace {

constexpr int width = 512, hidden = 1536, heads = 8, kv_heads = 4, head_width = 64;
constexpr int vocabulary = random_model_vocabulary;
constexpr std::int64_t layer_bytes =
    2 *
    (2LL * width * heads * head_width + 2LL * width * kv_heads * head_width + 3LL * width * hidden);
constexpr std::int64_t embedding_bytes = 2LL * vocabulary * width;

class Writer {
  public:
    explicit Writer(std::uint64_t seed) : seed_(seed) {}

    /// Weights of about 1/sqrt(columns).
    void matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
        std::vector<float> values(static_cast<std::size_t>(rows * columns));
        const float scale = 2 / std::sqrt(static_cast<float>(columns));
        for (float& value : values)
            value = scale * (static_cast<float>(nn::counter_hash(seed_++) >> 40) * 0x1p-24F - 0.5F);
        bytes_ += 2 * values.size();
        tensors_.push_back(
            {name, nn::TensorType::bf16, {rows, columns}, stored_as(nn::TensorType::bf16, values)});
    }
    void norm(const std::string& name) {
        const std::vector<float> ones(width, 1.0F);
        tensors_.push_back(
            {name, nn::TensorType::f32, {width}, stored_as(nn::TensorType::f32, ones)});
    }
    const std::vector<nn::TensorToWrite>& tensors() const { return tensors_; }
    std::uint64_t bytes() const { return bytes_; }

  private:
    std::uint64_t seed_, bytes_ = 0;
    std::vector<nn::TensorToWrite> tensors_;
};

}  // namespace

std::uint64_t write_random_model(const std::filesystem::path& path, int mebibytes, int context,
                                 std::uint64_t seed) {
    const double wanted = mebibytes * 0x1p20 - embedding_bytes;
    const int layers = std::max(1, static_cast<int>(std::lround(wanted / layer_bytes)));
    Writer writer(seed << 40);
    writer.matrix("token_embd.weight", vocabulary, width);
    for (int layer = 0; layer < layers; ++layer) {
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        writer.norm(prefix + "attn_norm.weight");
        writer.matrix(prefix + "attn_q.weight", heads * head_width, width);
        writer.matrix(prefix + "attn_k.weight", kv_heads * head_width, width);
        writer.matrix(prefix + "attn_v.weight", kv_heads * head_width, width);
        writer.matrix(prefix + "attn_output.weight", width, heads * head_width);
        writer.norm(prefix + "ffn_norm.weight");
        writer.matrix(prefix + "ffn_gate.weight", hidden, width);
        writer.matrix(prefix + "ffn_up.weight", hidden, width);
        writer.matrix(prefix + "ffn_down.weight", width, hidden);
    }
    writer.norm("output_norm.weight");
    nn::write_gguf(path,
                   {{"general.architecture", "llama"},
                    {"general.name", "random"},
                    {"llama.block_count", layers},
                    {"llama.context_length", context},
                    {"llama.embedding_length", width},
                    {"llama.feed_forward_length", hidden},
                    {"llama.attention.head_count", heads},
                    {"llama.attention.head_count_kv", kv_heads},
                    {"llama.rope.freq_base", 10000.0},
                    {"llama.rope.dimension_count", head_width},
                    {"llama.attention.layer_norm_rms_epsilon", 1e-5}},
                   writer.tensors());
    return writer.bytes();
}

}  // namespace assay::decode
