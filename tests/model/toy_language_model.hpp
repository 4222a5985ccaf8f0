// A toy model that can read and write: its tokens are the 256 bytes and ChatML's three.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "tests/nn/files/toy_gguf.hpp"

namespace assay::model {

constexpr int end_of_text = 256, turn_start = 257, turn_end = 258;

inline std::vector<std::string> toy_tokens() {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte)
        tokens.push_back(nn::to_byte_letters(std::string(1, static_cast<char>(byte))));
    for (const char* const special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
        tokens.emplace_back(special);
    return tokens;
}

inline nn::ToyModel toy_language_model(nn::Family family = nn::Family::llama) {
    nn::DecoderConfig config =
        family == nn::Family::llama ? nn::toy_llama_config() : nn::toy_gpt2_config();
    config.vocabulary = static_cast<int>(toy_tokens().size());
    config.context = 48;
    return nn::toy_model(config, 31);
}

/// The same shape, and whatever the text, its next token is `next`: layers that add nothing, and
/// one embedding longer than the others.
inline nn::ToyModel toy_model_saying(int next) {
    nn::ToyModel model = toy_language_model();
    for (auto& [name, values] : model.parameters)
        std::fill(values.begin(), values.end(), name.starts_with("layer") ? 0.0f : 1.0f);
    const auto row = model.parameters.at("token_embedding").begin() + next * model.config.width;
    std::fill(row, row + model.config.width, 2.0f);
    return model;
}

/// `without`: bytes that its vocabulary has no token for.
inline nn::GgufWriter toy_language_file(const nn::ToyModel& model, std::string_view without = "") {
    nn::GgufWriter writer = nn::gguf_of(model, nn::TensorType::q8_0);
    std::vector<std::string> tokens = toy_tokens();
    std::vector<std::int32_t> types(tokens.size(), 1);
    const auto make_control = [&](int id) { types[static_cast<std::size_t>(id)] = 3; };
    for (const int special : {end_of_text, turn_start, turn_end}) make_control(special);
    for (const char byte : without) {
        const int id = static_cast<unsigned char>(byte);
        tokens[static_cast<std::size_t>(id)] = "<not " + std::to_string(id) + ">";
        make_control(id);
    }
    writer.put("tokenizer.ggml.model", std::string("gpt2"));
    writer.put("tokenizer.ggml.pre", std::string("gpt-2"));
    writer.put_list("tokenizer.ggml.tokens", tokens);
    writer.put_list("tokenizer.ggml.token_type", types);
    writer.put_list("tokenizer.ggml.merges", std::vector<std::string>{});
    writer.put("tokenizer.ggml.eos_token_id", std::uint32_t{end_of_text});
    writer.put("tokenizer.chat_template",
               std::string("{% for message in messages %}{{'<|im_start|>' + message['role'] + "
                           "'\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
                           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
                           "{% endif %}"));
    return writer;
}

}  // namespace assay::model
