// A toy model as Hugging Face publishes models.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/nn/files/toy_model.hpp"
#include "tests/nn/files/write_safetensors.hpp"

namespace assay::nn {

struct HuggingFaceModel {
    SafetensorsWriter tensors;
    nlohmann::json config;  ///< config.json
};

/// `type`: f32, f16 or bf16.
inline HuggingFaceModel hugging_face_of(const ToyModel& model, TensorType type = TensorType::f32,
                                        const std::string& gpt2_prefix = "transformer.") {
    const DecoderConfig& config = model.config;
    const bool llama = config.family == Family::llama;
    const std::string dtype = type == TensorType::f32   ? "F32"
                              : type == TensorType::f16 ? "F16"
                                                        : "BF16";
    HuggingFaceModel out;
    const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape,
                         const std::vector<float>& values) {
        out.tensors.tensor(name, shape, dtype, stored_grid(values, type));
    };
    const auto copy = [&](const std::string& name, const std::string& ours) {
        const auto found = model.parameters.find(ours);
        if (found != model.parameters.end()) add(name, model.shapes.at(ours), found->second);
    };
    const auto copy_transposed = [&](const std::string& name, const std::string& ours) {
        const auto& shape = model.shapes.at(ours);
        add(name, {shape[1], shape[0]},
            transposed(model.parameters.at(ours), static_cast<std::size_t>(shape[1])));
    };
    const std::int64_t width = config.width;
    if (llama) {
        out.config = {{"architectures", {"LlamaForCausalLM"}},
                      {"model_type", "llama"},
                      {"num_hidden_layers", config.layers},
                      {"hidden_size", config.width},
                      {"intermediate_size", config.hidden},
                      {"num_attention_heads", config.heads},
                      {"num_key_value_heads", config.kv_heads},
                      {"head_dim", config.head_width},
                      {"max_position_embeddings", config.context},
                      {"rms_norm_eps", config.norm_epsilon},
                      {"rope_theta", config.rope_base},
                      {"rope_scaling", nullptr},
                      {"hidden_act", "silu"},
                      {"attention_bias", false},
                      {"tie_word_embeddings", config.tied_embeddings}};
        for (const auto& [is_so, name, type] :
             {std::tuple{config.query_key_norms, "Qwen3ForCausalLM", "qwen3"},
              std::tuple{config.query_key_value_biases, "Qwen2ForCausalLM", "qwen2"}})
            if (is_so) {
                out.config["architectures"] = {name};
                out.config["model_type"] = type;
                out.config["use_sliding_window"] = false;
            }
        copy("model.embed_tokens.weight", "token_embedding");
        for (int layer = 0; layer < config.layers; ++layer) {
            const std::string stored = "model.layers." + std::to_string(layer) + ".";
            const std::string ours = "layer" + std::to_string(layer) + "/";
            for (const auto& [name, own] : NamePairs{{"input_layernorm", "attention_norm"},
                                                     {"self_attn.q_proj", "query"},
                                                     {"self_attn.k_proj", "key"},
                                                     {"self_attn.v_proj", "value"},
                                                     {"self_attn.q_norm", "query_norm"},
                                                     {"self_attn.k_norm", "key_norm"},
                                                     {"self_attn.o_proj", "attention_out"},
                                                     {"post_attention_layernorm", "ffn_norm"},
                                                     {"mlp.gate_proj", "gate"},
                                                     {"mlp.up_proj", "up"},
                                                     {"mlp.down_proj", "down"}}) {
                copy(stored + name + ".weight", ours + own);
                copy(stored + name + ".bias", ours + own + std::string("_bias"));
            }
        }
        copy("model.norm.weight", "final_norm");
    } else {
        out.config = {
            {"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"n_layer", config.layers},
            {"n_embd", config.width},
            {"n_inner", config.hidden},
            {"n_head", config.heads},
            {"n_positions", config.context},
            {"layer_norm_epsilon", config.norm_epsilon},
            {"activation_function", config.activation == Activation::relu ? "relu" : "gelu_new"},
            {"tie_word_embeddings", config.tied_embeddings}};
        copy(gpt2_prefix + "wte.weight", "token_embedding");
        copy(gpt2_prefix + "wpe.weight", "position_embedding");
        for (int layer = 0; layer < config.layers; ++layer) {
            const std::string stored = gpt2_prefix + "h." + std::to_string(layer) + ".";
            const std::string ours = "layer" + std::to_string(layer) + "/";
            for (const auto& [name, own] :
                 NamePairs{{"ln_1", "attention_norm"}, {"ln_2", "ffn_norm"}})
                copy(stored + name + ".weight", ours + own);
            add(stored + "attn.c_attn.weight", {width, 3 * width},
                transposed(fused_qkv(model, layer, ""), static_cast<std::size_t>(width)));
            add(stored + "attn.c_attn.bias", {3 * width}, fused_qkv(model, layer, "_bias"));
            for (const auto& [name, own] : NamePairs{
                     {"attn.c_proj", "attention_out"}, {"mlp.c_fc", "up"}, {"mlp.c_proj", "down"}})
                copy_transposed(stored + name + ".weight", ours + own);
            for (const auto& [name, own] : NamePairs{{"ln_1", "attention_norm"},
                                                     {"ln_2", "ffn_norm"},
                                                     {"attn.c_proj", "attention_out"},
                                                     {"mlp.c_fc", "up"},
                                                     {"mlp.c_proj", "down"}})
                copy(stored + name + ".bias", ours + own + std::string("_bias"));
        }
        copy(gpt2_prefix + "ln_f.weight", "final_norm");
        copy(gpt2_prefix + "ln_f.bias", "final_norm_bias");
    }
    copy("lm_head.weight", "output");
    out.config["vocab_size"] = config.vocabulary;
    out.config["_name_or_path"] = config.name;
    return out;
}

}  // namespace assay::nn
