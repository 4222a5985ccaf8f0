// A toy model as a GGUF file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/nn/files/toy_model.hpp"
#include "tests/nn/files/write_gguf.hpp"

namespace assay::nn {

/// Metadata without a tokenizer, and the tensors; `matrices`: the type of what has two dimensions.
inline GgufWriter gguf_of(const ToyModel& model, TensorType matrices = TensorType::f32) {
    const DecoderConfig& config = model.config;
    const bool llama = config.family == Family::llama;
    const bool qwen = config.query_key_norms || config.query_key_value_biases;
    const std::string architecture = config.query_key_norms          ? "qwen3"
                                     : config.query_key_value_biases ? "qwen2"
                                     : llama                         ? "llama"
                                                                     : "gpt2";
    const std::string family = architecture + ".";
    const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
    GgufWriter writer;
    writer.put("general.architecture", architecture);
    writer.put("general.name", config.name);
    writer.put(family + "block_count", u32(config.layers));
    writer.put(family + "context_length", u32(config.context));
    writer.put(family + "embedding_length", u32(config.width));
    writer.put(family + "feed_forward_length", u32(config.hidden));
    writer.put(family + "attention.head_count", u32(config.heads));
    if (llama) {
        writer.put(family + "attention.head_count_kv", u32(config.kv_heads));
        writer.put(family + "rope.freq_base", static_cast<float>(config.rope_base));
        // The converter leaves it out where it says nothing new.
        if (!qwen) writer.put(family + "rope.dimension_count", u32(config.head_width));
        if (config.head_width * config.heads != config.width) {
            writer.put(family + "attention.key_length", u32(config.head_width));
            writer.put(family + "attention.value_length", u32(config.head_width));
        }
    }
    writer.put(
        family + (llama ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"),
        static_cast<float>(config.norm_epsilon));

    const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape,
                         const std::vector<float>& values) {
        const TensorType type = shape.size() == 2 ? matrices : TensorType::f32;
        writer.tensor(name, shape, type, stored_grid(values, type));
    };
    const auto copy = [&](const std::string& name, const std::string& ours) {
        const auto found = model.parameters.find(ours);
        if (found != model.parameters.end()) add(name, model.shapes.at(ours), found->second);
    };
    copy("token_embd.weight", "token_embedding");
    copy("position_embd.weight", "position_embedding");
    const std::int64_t width = config.width;
    for (int layer = 0; layer < config.layers; ++layer) {
        const std::string stored = "blk." + std::to_string(layer) + ".";
        const std::string ours = "layer" + std::to_string(layer) + "/";
        if (qwen) {
            for (const auto& [name, own] :
                 NamePairs{{"attn_q", "query"}, {"attn_k", "key"}, {"attn_v", "value"}}) {
                copy(stored + name + ".weight", ours + own);
                copy(stored + name + ".bias", ours + own + std::string("_bias"));
            }
            copy(stored + "attn_q_norm.weight", ours + "query_norm");
            copy(stored + "attn_k_norm.weight", ours + "key_norm");
        } else if (llama) {
            for (const auto& [name, own] : NamePairs{{"attn_q", "query"}, {"attn_k", "key"}})
                add(stored + name + ".weight", model.shapes.at(ours + own),
                    interleaved(model.parameters.at(ours + own), config.head_width,
                                static_cast<std::size_t>(width)));
            copy(stored + "attn_v.weight", ours + "value");
        } else {
            add(stored + "attn_qkv.weight", {3 * width, width}, fused_qkv(model, layer, ""));
            add(stored + "attn_qkv.bias", {3 * width}, fused_qkv(model, layer, "_bias"));
        }
        for (const auto& [name, own] : NamePairs{{"attn_norm", "attention_norm"},
                                                 {"attn_output", "attention_out"},
                                                 {"ffn_norm", "ffn_norm"},
                                                 {"ffn_gate", "gate"},
                                                 {"ffn_up", "up"},
                                                 {"ffn_down", "down"}}) {
            copy(stored + name + ".weight", ours + own);
            copy(stored + name + ".bias", ours + own + std::string("_bias"));
        }
    }
    copy("output_norm.weight", "final_norm");
    copy("output_norm.bias", "final_norm_bias");
    copy("output.weight", "output");
    return writer;
}

}  // namespace assay::nn
