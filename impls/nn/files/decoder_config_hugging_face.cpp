// Keys and defaults as LlamaConfig, Qwen2Config, Qwen3Config, MistralConfig and GPT2Config of
// Hugging Face's transformers have them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "impls/nn/files/config_reader.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {
namespace {

std::string architecture_of(const std::string& path, const nlohmann::json& config) {
    const ConfigValues values(path, config, "");
    if (values.has("architectures")) {
        const nlohmann::json& list = config["architectures"];
        if (!list.is_array() || list.size() != 1 || !list[0].is_string())
            values.refuse("architectures", "does not name exactly one architecture");
        return list[0].get<std::string>();
    }
    const std::string type = values.text("model_type");
    if (type == "llama") return "LlamaForCausalLM";
    if (type == "qwen2") return "Qwen2ForCausalLM";
    if (type == "qwen3") return "Qwen3ForCausalLM";
    if (type == "mistral") return "MistralForCausalLM";
    if (type == "gpt2") return "GPT2LMHeadModel";
    return type;
}

void read_rotary(const ConfigValues& values, DecoderConfig& config) {
    config.rope_base = values.positive("rope_theta", 10000.0);
    // Newer files keep the base together with the scaling.
    for (const char* const key : {"rope_scaling", "rope_parameters"}) {
        const auto table = values.table(key);
        if (!table) continue;
        const std::string kind = table->text("rope_type", table->text("type", "default"));
        if (kind != "default")
            values.refuse(key, fmt::format("is of type {}; scaled rotary positions are not "
                                           "supported",
                                           shown(kind)));
        config.rope_base = table->positive("rope_theta", config.rope_base);
        if (table->positive("partial_rotary_factor", 1.0) != 1)
            values.refuse(key, "rotates heads only in part, which is not supported");
    }
    if (values.positive("partial_rotary_factor", 1.0) != 1)
        values.refuse("partial_rotary_factor", "is not 1, which is not supported");
    values.refuse_set("rope_interleaved", "is set, which is not supported");
}

/// `context` and `head_width`: where the file is silent; of the latter, nullopt: the width is
/// shared out.
void read_llama(const ConfigValues& values, DecoderConfig& config, int context = 2048,
                std::optional<int> head_width = {}) {
    config.family = Family::llama;
    config.activation = Activation::swiglu;
    config.layers = values.size("num_hidden_layers");
    config.width = values.size("hidden_size");
    config.hidden = values.size("intermediate_size");
    config.heads = values.size("num_attention_heads");
    config.kv_heads = values.size("num_key_value_heads", config.heads);
    config.context = values.size("max_position_embeddings", context);
    config.norm_epsilon = values.positive("rms_norm_eps", 1e-6);
    config.tied_embeddings = values.flag("tie_word_embeddings", false);
    if (!values.has("head_dim") && !head_width && config.width % config.heads != 0)
        values.refuse("num_attention_heads", "does not divide hidden_size");
    config.head_width =
        values.size("head_dim", head_width.value_or(std::max(1, config.width / config.heads)));
    read_rotary(values, config);
    if (const auto activation = values.text("hidden_act", "silu"); activation != "silu")
        values.refuse("hidden_act", fmt::format("is {}; silu is supported", shown(activation)));
    values.refuse_set("attention_bias", "is set; biases are not supported in llama models");
    values.refuse_set("mlp_bias", "is set; biases are not supported in llama models");
}

void read_qwen(const ConfigValues& values, DecoderConfig& config, bool third) {
    read_llama(values, config, 32768, third ? std::optional(128) : std::nullopt);
    config.query_key_norms = third;
    config.query_key_value_biases = !third;
    values.refuse_set("use_sliding_window", "is set; sliding windows are not supported");
}

void read_mistral(const ConfigValues& values, DecoderConfig& config) {
    read_llama(values, config);
    // What is written as null has no window; what is not written has MistralConfig's default.
    const auto refuse = [&] {
        values.refuse("sliding_window",
                      "is shorter than max_position_embeddings (4096 when it is not written); "
                      "sliding windows are not supported");
    };
    if (values.has("sliding_window")) {
        if (values.size("sliding_window") < config.context) refuse();
    } else if (!values.contains("sliding_window") && config.context > 4096) {
        refuse();
    }
}

void read_gpt2(const ConfigValues& values, DecoderConfig& config) {
    config.family = Family::gpt2;
    config.layers = values.size("n_layer", 12);
    config.width = values.size("n_embd", 768);
    config.heads = values.size("n_head", 12);
    config.kv_heads = config.heads;
    config.context = values.size("n_positions", 1024);
    config.hidden = values.size("n_inner", 4 * config.width);
    config.norm_epsilon = values.positive("layer_norm_epsilon", 1e-5);
    config.tied_embeddings = values.flag("tie_word_embeddings", true);
    if (config.width % config.heads != 0) values.refuse("n_head", "does not divide n_embd");
    config.head_width = config.width / config.heads;
    const std::string activation = values.text("activation_function", "gelu_new");
    if (activation == "gelu_new" || activation == "gelu_pytorch_tanh")
        config.activation = Activation::gelu;
    else if (activation == "relu")
        config.activation = Activation::relu;
    else
        values.refuse("activation_function",
                      fmt::format("is {}; gelu_new, gelu_pytorch_tanh and relu are supported",
                                  shown(activation)));
    if (!values.flag("scale_attn_weights", true))
        values.refuse("scale_attn_weights", "is false, which is not supported");
    for (const char* const key : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"})
        values.refuse_set(key, "is set, which is not supported");
}

}  // namespace

DecoderConfig config_of_hugging_face(const TensorFile& file) {
    const auto found = file.metadata().find("config");
    if (found == file.metadata().end())
        malformed(file.path().string(),
                  "there is no config.json beside it, which says what model the tensors form");
    const std::string path = file.path().string() + " (config.json)";
    const ConfigValues values(path, *found, "");
    const std::string architecture = architecture_of(path, *found);
    DecoderConfig config;
    if (architecture == "LlamaForCausalLM")
        read_llama(values, config);
    else if (architecture == "Qwen2ForCausalLM" || architecture == "Qwen3ForCausalLM")
        read_qwen(values, config, architecture == "Qwen3ForCausalLM");
    else if (architecture == "MistralForCausalLM")
        read_mistral(values, config);
    else if (architecture == "GPT2LMHeadModel")
        read_gpt2(values, config);
    else
        values.refuse("architectures",
                      fmt::format("names {}; LlamaForCausalLM, Qwen2ForCausalLM, "
                                  "Qwen3ForCausalLM, MistralForCausalLM and GPT2LMHeadModel are "
                                  "supported",
                                  shown(architecture)));
    config.vocabulary = values.size("vocab_size");
    config.name = values.text("_name_or_path", "");
    return config;
}

}  // namespace assay::nn
