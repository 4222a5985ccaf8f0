// Keys as docs/gguf.md of ggml defines them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "impls/nn/files/config_reader.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {
namespace {

// The file keeps 32-bit floats; what was meant is the shortest decimal that gives that float:
// 1e-5, not 9.999999747378752e-06.
double meant(double stored) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits - 1, static_cast<float>(stored));
    *end.ptr = '\0';
    return std::strtod(digits, nullptr);
}

int vocabulary_of(const TensorFile& file, const ConfigValues& values) {
    const TensorEntry* const embedding = file.find("token_embd.weight");
    if (!embedding || embedding->shape.size() != 2)
        malformed(values.file(),
                  "a GGUF file without a table of token embeddings "
                  "(token_embd.weight)");
    const std::int64_t rows = embedding->shape[0];
    if (rows < 1 || rows > 1 << 24) malformed(values.file(), "token_embd.weight has no vocabulary");
    if (values.has("vocab_size") && values.size("vocab_size") != rows)
        values.refuse("vocab_size", fmt::format("is {}, but token_embd.weight has {} rows",
                                                values.size("vocab_size"), rows));
    return static_cast<int>(rows);
}

/// Also qwen2 and qwen3: llama with biases, or with norms of queries and keys.
void read_llama(const TensorFile& file, const ConfigValues& values, DecoderConfig& config) {
    config.family = Family::llama;
    config.activation = Activation::swiglu;
    config.kv_heads = values.size("attention.head_count_kv", config.heads);
    if (values.has("attention.key_length")) {
        config.head_width = values.size("attention.key_length");
        if (values.size("attention.value_length", config.head_width) != config.head_width)
            values.refuse("attention.value_length", "differs from attention.key_length");
    }
    if (values.size("rope.dimension_count", config.head_width) != config.head_width)
        values.refuse("rope.dimension_count",
                      fmt::format("is {}; only rotation of whole heads ({}) is supported",
                                  values.size("rope.dimension_count"), config.head_width));
    config.rope_base = meant(values.positive("rope.freq_base", 10000.0));
    config.norm_epsilon = meant(values.positive("attention.layer_norm_rms_epsilon"));

    constexpr auto scaled = "is set; scaled rotary positions are not supported";
    values.refuse_set("rope.scaling.type", scaled);
    for (const char* const key : {"rope.scaling.factor", "rope.scale_linear"})
        if (values.has(key) && values.positive(key) != 1) values.refuse(key, scaled);
    if (file.find("rope_freqs.weight"))
        malformed(values.file(),
                  "tensor rope_freqs.weight: scaled rotary positions are not "
                  "supported");
    values.refuse_set("expert_count", "is set; mixtures of experts are not supported");
    values.refuse_set("attention.sliding_window", "is set; sliding windows are not supported");
    for (const char* const key :
         {"attention.scale", "attention.clamp_kqv", "attention.logit_softcapping", "logit_scale",
          "embedding_scale", "residual_scale", "final_logit_softcapping", "use_parallel_residual"})
        values.refuse_set(key, "is set, which changes results and is not supported");
    if (const auto layout = values.text("tensor_data_layout", "Meta AI original pth");
        layout != "Meta AI original pth")
        values.refuse("tensor_data_layout", "is " + shown(layout) + ", which is not supported");
}

void read_gpt2(const ConfigValues& values, DecoderConfig& config) {
    config.family = Family::gpt2;
    config.activation = Activation::gelu;
    config.kv_heads = values.size("attention.head_count_kv", config.heads);
    if (config.kv_heads != config.heads)
        values.refuse("attention.head_count_kv", "differs from attention.head_count");
    config.norm_epsilon = meant(values.positive("attention.layer_norm_epsilon"));
}

}  // namespace

DecoderConfig config_of_gguf(const TensorFile& file) {
    const std::string path = file.path().string();
    const ConfigValues general(path, file.metadata(), "general.");
    const std::string architecture = general.text("architecture");
    DecoderConfig config;
    config.query_key_value_biases = architecture == "qwen2";
    config.query_key_norms = architecture == "qwen3";
    const bool llama =
        architecture == "llama" || architecture == "qwen2" || architecture == "qwen3";
    if (!llama && architecture != "gpt2")
        general.refuse(
            "architecture",
            fmt::format("is {}; llama, qwen2, qwen3 and gpt2 are supported", shown(architecture)));

    if (const auto parts = file.metadata().find("split.count");
        parts != file.metadata().end() && parts->is_number() && *parts > 1)
        malformed(path,
                  "one of several parts of a model (split.count); join them with "
                  "llama-gguf-split --merge first");

    const ConfigValues values(path, file.metadata(), architecture + ".");
    config.name = general.text("name", "");
    config.layers = values.size("block_count");
    config.width = values.size("embedding_length");
    config.hidden = values.size("feed_forward_length");
    config.context = values.size("context_length");
    config.heads = values.size("attention.head_count");
    config.vocabulary = vocabulary_of(file, values);
    config.tied_embeddings = file.find("output.weight") == nullptr;
    if (!values.has("attention.key_length") && config.width % config.heads != 0)
        values.refuse("attention.head_count", "does not divide embedding_length");
    config.head_width = std::max(1, config.width / config.heads);
    if (llama)
        read_llama(file, values, config);
    else
        read_gpt2(values, config);
    return config;
}

}  // namespace assay::nn
