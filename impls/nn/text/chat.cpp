#include "impls/nn/text/chat.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {

std::optional<TurnTokens> turn_tokens(const Tokenizer& tokenizer) {
    const auto start = tokenizer.id_of(turn_start), end = tokenizer.id_of(turn_end);
    if (!start || !end) return std::nullopt;
    return TurnTokens{*start, *end};
}

std::vector<int> chat_prompt(std::span<const ChatMessage> messages, std::string_view default_system,
                             const Tokenizer& tokenizer) {
    const auto turn = turn_tokens(tokenizer);
    if (!turn)
        throw UserError(
            fmt::format("the model's chat template is ChatML, and its tokenizer lacks "
                        "{} or {}; leave the template out",
                        turn_start, turn_end));
    std::vector<int> prompt;
    const auto write = [&](const std::string& text) {
        for (const int id : tokenizer.encode(text)) prompt.push_back(id);
    };
    const auto open = [&](std::string_view role, std::string_view text) {
        prompt.push_back(turn->start);
        write(fmt::format("{}\n{}", role, text));
    };
    const auto say = [&](std::string_view role, std::string_view text) {
        open(role, text);
        prompt.push_back(turn->end);
        write("\n");
    };
    if (!messages.empty() && messages.front().role != "system" && !default_system.empty())
        say("system", default_system);
    for (const ChatMessage& message : messages) say(message.role, message.text);
    open("assistant", "");
    return prompt;
}

std::optional<std::string> chat_default_system(const TensorFile& file) {
    const nlohmann::json& source =
        file.format() == FileFormat::gguf
            ? member(file.metadata(), "tokenizer.chat_template")
            : member(member(file.metadata(), "tokenizer_config"), "chat_template");
    if (!source.is_string()) return std::nullopt;
    return chatml_default_system(source.get_ref<const std::string&>());
}

}  // namespace assay::nn
