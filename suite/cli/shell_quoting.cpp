#include "suite/cli/shell_quoting.hpp"

namespace assay::cli {

std::string shell_quoted(std::string_view word) {
    constexpr std::string_view harmless =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+";
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos)
        return std::string(word);
    std::string text = "'";
    for (const char c : word) {
        if (c == '\'')
            text += "'\\''";
        else
            text += c;
    }
    return text + "'";
}

std::string shell_quoted(int argc, const char* const* argv) {
    std::string text;
    for (int i = 0; i < argc; ++i) {
        if (i > 0) text += ' ';
        text += shell_quoted(std::string_view(argv[i]));
    }
    return text;
}

}  // namespace assay::cli
