#include "impls/nn/text/template_tokens.hpp"

#include <algorithm>
#include <utility>

namespace assay::nn {

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
