// What a chat template (Jinja) does, as far as it is ChatML: its tokens against those of known
// templates.
#include <algorithm>
#include <span>
#include <utility>

#include "impls/nn/text/chat.hpp"

namespace assay::nn {
namespace {

using Tokens = std::vector<TemplateToken>;

// ChatML as templates write it: every message, then an opened turn of the assistant. Between
// `loop_start` and `turns` there may be `default_system`.
constexpr std::string_view loop_start = "{% for message in messages %}";
constexpr std::string_view turns =
    R"({{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }})"
    "{% endfor %}{% if add_generation_prompt %}"
    R"({{ '<|im_start|>assistant\n' }}{% endif %})";
constexpr std::string_view default_system =
    "{% if loop.first and messages[0]['role'] != 'system' %}{{ '' }}{% endif %}";

bool begins(std::span<const TemplateToken> rest, const Tokens& known) {
    return rest.size() >= known.size() && std::equal(known.begin(), known.end(), rest.begin());
}

/// Takes the known tokens off the front of `rest`, if it begins with them.
bool take(std::span<const TemplateToken>& rest, const Tokens& known) {
    if (!begins(rest, known)) return false;
    rest = rest.subspan(known.size());
    return true;
}
bool take(std::span<const TemplateToken>& rest, std::string_view known) {
    return take(rest, *template_tokens(known));
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

/// The same of "…{{ 'a system turn' }}…" as `known` has it with an empty string. nullopt: `rest`
/// does not begin so.
std::optional<std::string> take_system(std::span<const TemplateToken>& rest,
                                       std::string_view known) {
    Tokens with_turn = *template_tokens(known);
    const auto slot = std::find(with_turn.begin(), with_turn.end(),
                                TemplateToken{TemplateToken::Kind::string, ""});
    const auto at = static_cast<std::size_t>(slot - with_turn.begin());
    if (at >= rest.size() || rest[at].kind != TemplateToken::Kind::string) return std::nullopt;
    slot->value = rest[at].value;
    auto system = message_of(slot->value);
    return system && take(rest, with_turn) ? std::move(system) : std::nullopt;
}

/// Leaves out what stands in a branch of an {% if %}, up to the tag that ends it, whose word is
/// returned ("elif", "else", "endif"); empty: there is none.
std::string_view skip_branch(std::span<const TemplateToken>& rest) {
    int open = 0;
    for (; rest.size() >= 2; rest = rest.subspan(1)) {
        if (rest[0] != TemplateToken{TemplateToken::Kind::mark, "{%"}) continue;
        const std::string_view word = rest[1].value;
        const bool ends = word == "endif" || word == "endfor";
        if (open == 0 && (ends || word == "elif" || word == "else")) return word;
        if (ends) --open;
        if (word == "if" || word == "for") ++open;
    }
    return {};
}

/// Leaves out tags that write nothing and leave the messages alone, up to the loop over these.
void skip_notes(std::span<const TemplateToken>& rest) {
    using enum TemplateToken::Kind;
    const Tokens loop = *template_tokens(loop_start);
    const Tokens change{{mark, "{%"}, {word, "set"}, {word, "messages"}};
    while (!rest.empty() && !begins(rest, loop) && !begins(rest, change) && rest[0].kind != text &&
           rest[0] != TemplateToken{mark, "{{"})
        rest = rest.subspan(1);
}

// Templates that know tools, too (Qwen2.5, Qwen3): the turns of users and later system messages.
// Between there are branches for other roles, and tool calls.
constexpr std::string_view first_system =
    "{% if messages[0]['role'] == 'system' %}"
    R"({{ '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }})";
constexpr std::string_view content_if_text =
    "{% if message['content'] is string %}{% set content = message['content'] %}"
    "{% else %}{% set content = '' %}{% endif %}";
constexpr std::string_view of_users =
    "{% if (message['role'] == 'user') or (message['role'] == 'system' and not loop['first']) %}";
constexpr std::string_view of_all =
    "{% if (message['role'] == 'user') or (message['role'] == 'system' and not loop['first'])"
    " or (message['role'] == 'assistant' and not message['tool_calls']) %}";
constexpr std::string_view turn =
    R"({{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }})";
constexpr std::string_view turn_of_content =
    R"({{ '<|im_start|>' + message['role'] + '\n' + content + '<|im_end|>\n' }})";
constexpr std::string_view after_turns =
    "{% endif %}{% endfor %}{% if add_generation_prompt %}"
    R"({{ '<|im_start|>assistant\n' }})";
constexpr std::string_view unless_asked =
    "{% if enable_thinking is defined and enable_thinking is false %}";

std::optional<std::string> default_system_beside_tools(std::span<const TemplateToken> rest) {
    if (!take(rest, "{% if tools %}") || skip_branch(rest) != "else" || !take(rest, "{% else %}") ||
        !take(rest, first_system))
        return std::nullopt;
    const auto system = take_system(rest, "{% else %}{{ '' }}").value_or("");
    if (!take(rest, "{% endif %}{% endif %}")) return std::nullopt;
    skip_notes(rest);
    if (!take(rest, loop_start)) return std::nullopt;
    const bool by_content = take(rest, content_if_text);
    if (!(take(rest, of_users) || take(rest, of_all)) ||
        !take(rest, by_content ? turn_of_content : turn))
        return std::nullopt;
    while (skip_branch(rest) == "elif") rest = rest.subspan(1);
    if (!take(rest, after_turns)) return std::nullopt;
    if (take(rest, unless_asked) && (skip_branch(rest) != "endif" || !take(rest, "{% endif %}")))
        return std::nullopt;
    return take(rest, "{% endif %}") && rest.empty() ? std::optional(system) : std::nullopt;
}

}  // namespace

std::optional<std::string> chatml_default_system(std::string_view source) {
    const auto tokens = template_tokens(source);
    if (!tokens) return std::nullopt;
    std::span<const TemplateToken> rest(*tokens);
    if (!take(rest, loop_start)) return default_system_beside_tools(rest);
    const auto system = take_system(rest, default_system).value_or("");
    return take(rest, turns) && rest.empty() ? std::optional(system) : std::nullopt;
}

namespace {

using Kind = TemplateToken::Kind;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Lexer {
  public:
    explicit Lexer(std::string_view source) : rest_(source) {}

    /// False: something is not closed.
    bool run() {
        while (!rest_.empty()) {
            const std::size_t open = std::min(rest_.find("{%"), rest_.find("{{"));
            std::string_view text = rest_.substr(0, open);
            rest_.remove_prefix(text.size());
            const std::string bracket(rest_.substr(0, 2));
            rest_.remove_prefix(bracket.size());
            if (rest_.starts_with('-') && !bracket.empty()) {
                rest_.remove_prefix(1);
                while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
            }
            if (!text.empty()) add(Kind::text, std::string(text));
            if (!bracket.empty() && !tag(bracket)) return false;
        }
        return true;
    }

    std::vector<TemplateToken> tokens() && { return std::move(tokens_); }

  private:
    /// What follows an opening bracket, up to and including the closing one.
    bool tag(const std::string& bracket) {
        add(Kind::mark, bracket);
        const std::string closing = bracket == "{{" ? "}}" : "%}";
        while (!rest_.empty()) {
            if (rest_.starts_with(closing)) return close(closing, false);
            if (rest_.starts_with("-" + closing)) return close(closing, true);
            if (is_space(rest_.front()))
                rest_.remove_prefix(1);
            else if (!token())
                return false;
        }
        return false;
    }

    bool close(const std::string& closing, bool strip) {
        rest_.remove_prefix(closing.size() + (strip ? 1 : 0));
        add(Kind::mark, closing);
        if (strip)
            while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
        else if (closing == "%}" && rest_.starts_with('\n'))
            rest_.remove_prefix(1);
        return true;
    }

    bool token() {
        const char first = rest_.front();
        if (first == '\'' || first == '"') return string(first);
        std::size_t size = 1;
        if (is_word(first))
            while (size < rest_.size() && is_word(rest_[size])) ++size;
        else if (rest_.starts_with("!=") || rest_.starts_with("=="))
            size = 2;
        std::string value(rest_.substr(0, size));
        rest_.remove_prefix(size);
        if (is_word(first) && ends_with({Kind::mark, "."})) {
            tokens_.pop_back();
            add(Kind::mark, "[");
            add(Kind::string, std::move(value));
            add(Kind::mark, "]");
        } else {
            add(is_word(first) ? Kind::word : Kind::mark, std::move(value));
        }
        return true;
    }

    bool string(char quote) {
        std::string value;
        for (std::size_t i = 1; i < rest_.size(); ++i) {
            char c = rest_[i];
            if (c == quote) {
                rest_.remove_prefix(i + 1);
                add_string(std::move(value));
                return true;
            }
            if (c == '\\' && ++i < rest_.size())
                c = rest_[i] == 'n' ? '\n' : rest_[i] == 't' ? '\t' : rest_[i];
            value += c;
        }
        return false;
    }

    void add_string(std::string value) {
        const bool added = tokens_.size() >= 2 && ends_with({Kind::mark, "+"}) &&
                           tokens_[tokens_.size() - 2].kind == Kind::string;
        if (!added) return add(Kind::string, std::move(value));
        tokens_.pop_back();
        tokens_.back().value += value;
    }

    bool ends_with(const TemplateToken& token) const {
        return !tokens_.empty() && tokens_.back() == token;
    }
    void add(Kind kind, std::string value) { tokens_.push_back({kind, std::move(value)}); }

    std::string_view rest_;
    std::vector<TemplateToken> tokens_;
};

}  // namespace

std::optional<std::vector<TemplateToken>> template_tokens(std::string_view source) {
    Lexer lexer(source);
    if (!lexer.run()) return std::nullopt;
    return std::move(lexer).tokens();
}

}  // namespace assay::nn
