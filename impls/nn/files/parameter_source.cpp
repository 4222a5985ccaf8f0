#include "impls/nn/files/parameter_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

using Names = std::array<std::pair<std::string_view, std::string_view>, 15>;

constexpr Names gguf_names{{{"token_embedding", "token_embd"},
                            {"position_embedding", "position_embd"},
                            {"final_norm", "output_norm"},
                            {"output", "output"},
                            {"attention_norm", "attn_norm"},
                            {"query", "attn_q"},
                            {"key", "attn_k"},
                            {"value", "attn_v"},
                            {"query_norm", "attn_q_norm"},
                            {"key_norm", "attn_k_norm"},
                            {"attention_out", "attn_output"},
                            {"ffn_norm", "ffn_norm"},
                            {"gate", "ffn_gate"},
                            {"up", "ffn_up"},
                            {"down", "ffn_down"}}};

constexpr Names hugging_face_llama{{{"token_embedding", "model.embed_tokens"},
                                    {"final_norm", "model.norm"},
                                    {"output", "lm_head"},
                                    {"attention_norm", "input_layernorm"},
                                    {"query", "self_attn.q_proj"},
                                    {"key", "self_attn.k_proj"},
                                    {"value", "self_attn.v_proj"},
                                    {"query_norm", "self_attn.q_norm"},
                                    {"key_norm", "self_attn.k_norm"},
                                    {"attention_out", "self_attn.o_proj"},
                                    {"ffn_norm", "post_attention_layernorm"},
                                    {"gate", "mlp.gate_proj"},
                                    {"up", "mlp.up_proj"},
                                    {"down", "mlp.down_proj"}}};

constexpr Names hugging_face_gpt2{{{"token_embedding", "wte"},
                                   {"position_embedding", "wpe"},
                                   {"final_norm", "ln_f"},
                                   {"output", "lm_head"},
                                   {"attention_norm", "ln_1"},
                                   {"attention_out", "attn.c_proj"},
                                   {"ffn_norm", "ln_2"},
                                   {"up", "mlp.c_fc"},
                                   {"down", "mlp.c_proj"}}};

struct Parsed {
    std::optional<int> layer;
    std::string_view base;  ///< "query" of "layer3/query_bias"
    bool bias = false;
};

Parsed parse(std::string_view name) {
    constexpr std::string_view layer_prefix = "layer", bias_suffix = "_bias";
    Parsed parsed{{}, name};
    if (name.starts_with(layer_prefix)) {
        int layer = 0;
        const char* const end = name.data() + name.size();
        const auto number = std::from_chars(name.data() + layer_prefix.size(), end, layer);
        if (number.ec == std::errc() && number.ptr != end && *number.ptr == '/') {
            parsed.layer = layer;
            parsed.base = {number.ptr + 1, end};
        }
    }
    if (parsed.base.ends_with(bias_suffix)) {
        parsed.bias = true;
        parsed.base.remove_suffix(bias_suffix.size());
    }
    return parsed;
}

std::vector<std::int64_t> shape_of(const DecoderConfig& config, std::string_view name,
                                   const Parsed& parsed) {
    if (!parsed.layer || (*parsed.layer >= 0 && *parsed.layer < config.layers)) {
        const std::string_view own = parsed.layer ? name.substr(name.find('/') + 1) : name;
        for (NamedShape& each : parsed.layer ? layer_parameters(config) : shared_parameters(config))
            if (each.name == own) return std::move(each.shape);
    }
    throw std::invalid_argument("no such parameter: " + std::string(name));
}

// Position in the fused tensor of GPT-2, if the parameter is in it.
std::optional<int> place_in_qkv(std::string_view base) {
    constexpr std::array<std::string_view, 3> order{"query", "key", "value"};
    const auto found = std::find(order.begin(), order.end(), base);
    if (found == order.end()) return std::nullopt;
    return static_cast<int>(found - order.begin());
}

std::string_view stored_name(const Names& names, std::string_view base) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& pair) { return pair.first == base; });
    return found == names.end() ? std::string_view{} : found->second;
}

// In front of a tensor's own name.
std::string prefix_in_gguf(const Parsed& parsed) {
    return parsed.layer ? "blk." + std::to_string(*parsed.layer) + "." : "";
}
std::string prefix_of(const TensorFile& file, const DecoderConfig& config, const Parsed& parsed) {
    if (file.format() == FileFormat::gguf) return prefix_in_gguf(parsed);
    const std::string layer = parsed.layer ? std::to_string(*parsed.layer) + "." : "";
    if (config.family == Family::llama) return parsed.layer ? "model.layers." + layer : "";
    if (parsed.base == "output") return "";
    // Written by GPT2LMHeadModel, or by GPT2Model alone as the first published files were.
    const std::string model = file.find("transformer.wte.weight") ? "transformer." : "";
    return model + (parsed.layer ? "h." + layer : "");
}

// `prefix`: as above.
ParameterSource source_of(const DecoderConfig& config, std::string_view name, const Parsed& parsed,
                          bool gguf, std::string prefix) {
    ParameterSource source;
    source.shape = shape_of(config, name, parsed);
    source.stored_shape = source.shape;

    const bool gpt2 = config.family == Family::gpt2;
    const Names& names = gguf ? gguf_names : gpt2 ? hugging_face_gpt2 : hugging_face_llama;
    std::string_view own = stored_name(names, parsed.base);
    if (const auto place = place_in_qkv(parsed.base); gpt2 && place) {
        own = gguf ? "attn_qkv" : "attn.c_attn";
        source.fused = true;
        source.first_output = *place * source.shape.front();
        source.stored_shape.front() *= 3;
    }
    const bool matrix_of_layer = parsed.layer && source.shape.size() == 2;
    if (gpt2 && !gguf && matrix_of_layer) {
        source.transposed = true;
        std::swap(source.stored_shape[0], source.stored_shape[1]);
    }
    source.interleaved = gguf && gguf_architecture(config) == "llama" &&
                         (parsed.base == "query" || parsed.base == "key");
    source.tensor = std::move(prefix);
    source.tensor.append(own).append(parsed.bias ? ".bias" : ".weight");
    return source;
}

}  // namespace

ParameterSource parameter_source(const TensorFile& file, const DecoderConfig& config,
                                 std::string_view name) {
    const Parsed parsed = parse(name);
    return source_of(config, name, parsed, file.format() == FileFormat::gguf,
                     prefix_of(file, config, parsed));
}

ParameterSource gguf_parameter_source(const DecoderConfig& config, std::string_view name) {
    const Parsed parsed = parse(name);
    return source_of(config, name, parsed, true, prefix_in_gguf(parsed));
}

std::string_view gguf_architecture(const DecoderConfig& config) {
    if (config.family == Family::gpt2) return "gpt2";
    if (config.query_key_norms && config.query_key_value_biases)
        throw UserError("no architecture of GGUF has norms of queries and keys and biases of them");
    return config.query_key_norms ? "qwen3" : config.query_key_value_biases ? "qwen2" : "llama";
}

std::vector<std::int32_t> interleaved_rows(std::int64_t outputs, int head_width) {
    if (head_width < 2 || head_width % 2 != 0 || outputs % head_width != 0)
        throw std::invalid_argument("rotary positions need heads of an even width");
    const int half = head_width / 2;
    std::vector<std::int32_t> stored(static_cast<std::size_t>(outputs));
    for (std::int64_t row = 0; row < outputs; ++row) {
        const auto within = static_cast<int>(row % head_width);
        stored[static_cast<std::size_t>(row)] =
            static_cast<std::int32_t>(row - within + 2 * (within % half) + within / half);
    }
    return stored;
}

namespace {

void read_transposed(const TensorEntry& tensor, const ParameterSource& source,
                     std::span<float> out) {
    const std::int64_t outputs = source.shape[0], inputs = source.shape[1];
    const std::int64_t stored_outputs = source.stored_shape[1];
    std::vector<float> column(static_cast<std::size_t>(outputs));
    for (std::int64_t input = 0; input < inputs; ++input) {
        to_floats(tensor, input * stored_outputs + source.first_output, column);
        for (std::int64_t output = 0; output < outputs; ++output)
            out[static_cast<std::size_t>(output * inputs + input)] =
                column[static_cast<std::size_t>(output)];
    }
}

void read_reordered(const TensorEntry& tensor, const std::vector<std::int32_t>& order,
                    std::span<float> out) {
    const std::size_t inputs = out.size() / order.size();
    for (std::size_t row = 0; row < order.size(); ++row)
        to_floats(tensor, order[row] * static_cast<std::int64_t>(inputs),
                  out.subspan(row * inputs, inputs));
}

}  // namespace

void read_parameter(const TensorFile& file, const DecoderConfig& config, std::string_view name,
                    std::span<float> out) {
    const ParameterSource source = parameter_source(file, config, name);
    std::int64_t elements = 1;
    for (const std::int64_t extent : source.shape) elements *= extent;
    if (static_cast<std::int64_t>(out.size()) != elements)
        throw std::invalid_argument("room for another number of elements than the parameter has: " +
                                    std::string(name));
    const TensorEntry& tensor = file.require(source.tensor, source.stored_shape);
    if (source.transposed) return read_transposed(tensor, source, out);
    if (source.interleaved)
        return read_reordered(tensor, interleaved_rows(source.shape[0], config.head_width), out);
    // Also in blocks: a third of a fused row or bias is a whole number of them, as the tensor is.
    const std::int64_t row = source.shape.size() == 2 ? source.shape[1] : 1;
    to_floats(tensor, source.first_output * row, out);
}

}  // namespace assay::nn
