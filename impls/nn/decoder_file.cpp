#include "impls/nn/decoder_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/text/unicode.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

/// Keys as docs/gguf.md of ggml defines them.
nlohmann::json metadata_of(const DecoderConfig& config) {
    const bool llama = config.family == Family::llama;
    if (config.activation != (llama ? Activation::swiglu : Activation::gelu))
        throw UserError(fmt::format("a {} model with {} cannot be written as GGUF",
                                    to_string(config.family), to_string(config.activation)));
    const std::string architecture(gguf_architecture(config));
    nlohmann::json metadata{{"general.architecture", architecture}, {"general.name", config.name}};
    const auto put = [&](const char* key, const auto& value) {
        metadata[architecture + "." + key] = value;
    };
    put("block_count", config.layers);
    put("context_length", config.context);
    put("embedding_length", config.width);
    put("feed_forward_length", config.hidden);
    put("attention.head_count", config.heads);
    put("attention.head_count_kv", config.kv_heads);
    if (!llama) {
        put("attention.layer_norm_epsilon", config.norm_epsilon);
        return metadata;
    }
    put("attention.key_length", config.head_width);
    put("attention.value_length", config.head_width);
    put("attention.layer_norm_rms_epsilon", config.norm_epsilon);
    put("rope.dimension_count", config.head_width);
    put("rope.freq_base", config.rope_base);
    return metadata;
}

/// A tensor of the file, put together from the parameters that lie in it.
struct Gathered {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

void add_parameter(std::vector<Gathered>& tensors, const Decoder& decoder,
                   const std::string& name) {
    const ParameterSource source = gguf_parameter_source(decoder.config(), name);
    auto place = std::find_if(tensors.begin(), tensors.end(),
                              [&](const Gathered& one) { return one.name == source.tensor; });
    if (place == tensors.end()) {
        std::size_t elements = 1;
        for (const auto extent : source.stored_shape) elements *= static_cast<std::size_t>(extent);
        place = tensors.insert(place,
                               {source.tensor, source.stored_shape, std::vector<float>(elements)});
    }
    const auto values = decoder.parameter(name).detach().to(at::kCPU, at::kFloat).contiguous();
    const auto outputs = static_cast<std::size_t>(source.shape[0]);
    const std::size_t inputs = static_cast<std::size_t>(values.numel()) / outputs;
    const auto order = source.interleaved
                           ? interleaved_rows(source.shape[0], decoder.config().head_width)
                           : std::vector<std::int32_t>();
    for (std::size_t row = 0; row < outputs; ++row) {
        const std::size_t stored = static_cast<std::size_t>(source.first_output) +
                                   (order.empty() ? row : static_cast<std::size_t>(order[row]));
        std::memcpy(&place->values[stored * inputs], values.const_data_ptr<float>() + row * inputs,
                    inputs * sizeof(float));
    }
}

}  // namespace

DecoderFile file_of(const Decoder& decoder, TensorType matrices) {
    const DecoderConfig& config = decoder.config();
    std::vector<Gathered> gathered;
    for (const NamedShape& each : shared_parameters(config))
        add_parameter(gathered, decoder, each.name);
    for (int layer = 0; layer < config.layers; ++layer)
        for (const NamedShape& each : layer_parameters(config))
            add_parameter(gathered, decoder, fmt::format("layer{}/{}", layer, each.name));

    DecoderFile file{metadata_of(config), {}};
    for (const Gathered& tensor : gathered) {
        const bool matrix = tensor.shape.size() == 2 && tensor.name != "position_embd.weight";
        const TensorType type = matrix ? matrices : TensorType::f32;
        file.tensors.push_back({tensor.name, type, tensor.shape, stored_as(type, tensor.values)});
    }
    return file;
}

nlohmann::json byte_tokenizer_metadata() {
    nlohmann::json tokens = nlohmann::json::array();
    for (int byte = 0; byte < 256; ++byte)
        tokens.push_back(to_byte_letters(std::string(1, static_cast<char>(byte))));
    // Without merges every byte is its own token, however words are cut.
    return {{"tokenizer.ggml.model", "gpt2"},
            {"tokenizer.ggml.pre", "gpt-2"},
            {"tokenizer.ggml.tokens", tokens},
            {"tokenizer.ggml.merges", nlohmann::json::array()}};
}

}  // namespace assay::nn
