// The lexical tokens of a chat template (Jinja): enough to compare it with a known template
// whatever its white space, quotes and way of naming members.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::nn {

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
