// Prompts of chats, and whether a model's chat template is ChatML, the only kind that is written.
// Control tokens stand only where the template has them: what anybody wrote is text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::nn {

class TensorFile;  // files/tensor_file.hpp
class Tokenizer;   // tokenizer.hpp

inline constexpr std::string_view turn_start = "<|im_start|>", turn_end = "<|im_end|>";
/// ChatML's two control tokens.
struct TurnTokens {
    int start = 0, end = 0;
};
/// nullopt: the tokenizer lacks one.
std::optional<TurnTokens> turn_tokens(const Tokenizer&);

struct ChatMessage {
    std::string role;  ///< "system", "user", "assistant"
    std::string text;
};

/// ChatML: <|im_start|>role\ntext<|im_end|>\n …, then an opened assistant turn. SmolLM2 adds its
/// own system message when the first message is not one; `default_system` (may be empty) is that.
/// Throws UserError: a tokenizer without ChatML's tokens, or without one for bytes of a message.
std::vector<int> chat_prompt(std::span<const ChatMessage> messages, std::string_view default_system,
                             const Tokenizer&);
/// The default system message of the file's template, where it is ChatML; nullopt: another
/// template.
std::optional<std::string> chat_default_system(const TensorFile&);

/// The system message that a ChatML template puts in front when the first message is none; empty:
/// it puts none there. nullopt: the template does anything else or more, but for branches that know
/// tools, tool calls and the assistant's thoughts (Qwen2.5, Qwen3): none is written here.
std::optional<std::string> chatml_default_system(std::string_view source);

/// A lexical token of a chat template (Jinja): enough to compare it with a known template whatever
/// its white space, quotes and way of naming members.
struct TemplateToken {
    enum class Kind { text, string, word, mark } kind;
    std::string value;  ///< of strings: without quotes and escapes
    bool operator==(const TemplateToken&) const = default;
};

/// text: what lies outside {% %} and {{ }}, less the line end after %} and the white space that
/// {%- and -%} remove. The four brackets and single characters of an expression are marks (`!=` and
/// `==` are one). `a.b` becomes a['b'], and strings added to each other become one. nullopt: not
/// closed somewhere.
std::optional<std::vector<TemplateToken>> template_tokens(std::string_view source);

}  // namespace assay::nn
