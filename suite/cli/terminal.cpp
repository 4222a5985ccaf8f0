#include "suite/cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
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

std::size_t drawing_width(std::size_t otherwise) {
    std::size_t columns = otherwise;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        columns = size.ws_col;
    } else if (const char* told = std::getenv("COLUMNS")) {
        const std::string_view text(told);
        std::from_chars(text.data(), text.data() + text.size(), columns);
    }
    return std::clamp<std::size_t>(columns, 40, 200);
}

}  // namespace assay::cli
