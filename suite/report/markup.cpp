// See markup.hpp.
#include "suite/report/markup.hpp"

#include "suite/report/utf8.hpp"

namespace assay::report {

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point(text, at);
        const bool white = c.value == '\t' || c.value == '\n';
        if (!is_printable(c) && !white)
            out += "\xef\xbf\xbd";
        else if (c.value == '&')
            out += "&amp;";
        else if (c.value == '<')
            out += "&lt;";
        else if (c.value == '>')
            out += "&gt;";
        else if (c.value == '"')
            out += "&quot;";
        else if (c.value == '\'')
            out += "&#39;";
        else
            out += text.substr(at, c.bytes);
        at += c.bytes;
    }
    return out;
}

std::string as_id(std::string_view text) {
    std::string id;
    for (const char c : text) {
        const bool keep =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        id += keep ? c : '-';
    }
    return id;
}

}  // namespace assay::report
