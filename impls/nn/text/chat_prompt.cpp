#include "impls/nn/text/tokenizer.hpp"

namespace assay::nn {

std::string chat_prompt(std::span<const ChatMessage> messages, std::string_view default_system) {
    std::string prompt;
    const auto open = [&](std::string_view role) {
        prompt.append("<|im_start|>").append(role).append("\n");
    };
    const auto say = [&](std::string_view role, std::string_view text) {
        open(role);
        prompt.append(text).append("<|im_end|>\n");
    };
    if (!messages.empty() && messages.front().role != "system" && !default_system.empty())
        say("system", default_system);
    for (const ChatMessage& message : messages) say(message.role, message.text);
    open("assistant");
    return prompt;
}

}  // namespace assay::nn
