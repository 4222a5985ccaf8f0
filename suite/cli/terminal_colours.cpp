#include "suite/cli/terminal_colours.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace assay::cli {

bool colours_wanted() {
    const char* no_color = std::getenv("NO_COLOR");
    if (no_color != nullptr && *no_color != '\0') return false;
    const char* terminal = std::getenv("TERM");
    if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
    return ::isatty(STDOUT_FILENO) != 0;
}

std::string coloured(std::string_view text, Colour colour) {
    return fmt::format("\x1b[{}m{}\x1b[0m", colour == Colour::green ? 32 : 31, text);
}

}  // namespace assay::cli
