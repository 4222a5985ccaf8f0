#include "impls/nn/text/chat.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    if (!take(rest, *template_tokens(loop_start))) return std::nullopt;

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
