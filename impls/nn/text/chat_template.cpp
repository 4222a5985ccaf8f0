#include "impls/nn/text/chat_template.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "impls/nn/text/template_tokens.hpp"

namespace assay::nn {

namespace {

using Tokens = std::vector<TemplateToken>;

// ChatML as templates write it: every message, then an opened turn of the assistant. Between
// `begin` and `turns` there may be `default_system`.
constexpr std::string_view begin = "{% for message in messages %}";
constexpr std::string_view turns =
    R"({{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }})"
    "{% endfor %}{% if add_generation_prompt %}"
    R"({{ '<|im_start|>assistant\n' }}{% endif %})";
constexpr std::string_view default_system =
    "{% if loop.first and messages[0]['role'] != 'system' %}{{ '' }}{% endif %}";

/// Takes the known tokens off the front of `rest`, which must begin with them.
bool take(std::span<const TemplateToken>& rest, const Tokens& known) {
    if (rest.size() < known.size() || !std::equal(known.begin(), known.end(), rest.begin()))
        return false;
    rest = rest.subspan(known.size());
    return true;
}

/// The message of a string that writes a whole system turn.
std::optional<std::string> message_of(std::string_view turn) {
    constexpr std::string_view opening = "<|im_start|>system\n", closing = "<|im_end|>\n";
    if (turn.size() <= opening.size() + closing.size() || !turn.starts_with(opening) ||
        !turn.ends_with(closing))
        return std::nullopt;
    turn.remove_prefix(opening.size());
    turn.remove_suffix(closing.size());
    return std::string(turn);
}

}  // namespace

std::optional<std::string> chatml_default_system(std::string_view source) {
    const auto tokens = template_tokens(source);
    if (!tokens) return std::nullopt;
    std::span<const TemplateToken> rest(*tokens);
    if (!take(rest, *template_tokens(begin))) return std::nullopt;

    std::optional<std::string> system = "";
    Tokens with_system = *template_tokens(default_system);
    const auto slot = std::find(with_system.begin(), with_system.end(),
                                TemplateToken{TemplateToken::Kind::string, ""});
    const auto at = static_cast<std::size_t>(slot - with_system.begin());
    if (at < rest.size() && rest[at].kind == TemplateToken::Kind::string) {
        const std::string& turn = rest[at].value;
        slot->value = turn;
        if (take(rest, with_system)) system = message_of(turn);
    }
    if (!take(rest, *template_tokens(turns)) || !rest.empty()) return std::nullopt;
    return system;
}

}  // namespace assay::nn
