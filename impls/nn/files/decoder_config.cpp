#include "impls/nn/files/decoder_config.hpp"

#include <stdexcept>

namespace assay::nn {

std::string_view to_string(Family family) {
    switch (family) {
        case Family::llama:
            return "llama";
        case Family::gpt2:
            return "gpt2";
    }
    throw std::logic_error("no such family");
}

std::string_view to_string(Activation activation) {
    switch (activation) {
        case Activation::swiglu:
            return "swiglu";
        case Activation::gelu:
            return "gelu";
        case Activation::relu:
            return "relu";
    }
    throw std::logic_error("no such activation");
}

std::vector<NamedShape> shared_parameters(const DecoderConfig& config) {
    const std::int64_t d = config.width;
    std::vector<NamedShape> list{{"token_embedding", {config.vocabulary, d}}};
    if (config.family == Family::gpt2) list.push_back({"position_embedding", {config.context, d}});
    list.push_back({"final_norm", {d}});
    if (config.family == Family::gpt2) list.push_back({"final_norm_bias", {d}});
    if (!config.tied_embeddings) list.push_back({"output", {config.vocabulary, d}});
    return list;
}

std::vector<NamedShape> layer_parameters(const DecoderConfig& config) {
    const std::int64_t d = config.width, f = config.hidden;
    const std::int64_t queries = std::int64_t{config.heads} * config.head_width;
    const std::int64_t keys = std::int64_t{config.kv_heads} * config.head_width;
    std::vector<NamedShape> list;
    // A bias has one element per output, as many as its matrix has rows.
    const auto add = [&](const char* name, std::vector<std::int64_t> shape, bool bias = true) {
        const std::int64_t outputs = shape.front();
        list.push_back({name, std::move(shape)});
        if (bias && config.family == Family::gpt2)
            list.push_back({std::string(name) + "_bias", {outputs}});
    };
    add("attention_norm", {d});
    add("query", {queries, d});
    add("key", {keys, d});
    add("value", {keys, d});
    add("attention_out", {d, queries});
    add("ffn_norm", {d});
    if (config.activation == Activation::swiglu) add("gate", {f, d}, false);
    add("up", {f, d});
    add("down", {d, f});
    return list;
}

std::int64_t DecoderConfig::parameters() const {
    const auto sum = [](const std::vector<NamedShape>& list) {
        std::int64_t total = 0;
        for (const NamedShape& parameter : list) {
            std::int64_t elements = 1;
            for (const std::int64_t extent : parameter.shape) elements *= extent;
            total += elements;
        }
        return total;
    };
    return sum(shared_parameters(*this)) + layers * sum(layer_parameters(*this));
}

}  // namespace assay::nn
