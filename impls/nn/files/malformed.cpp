#include "impls/nn/files/malformed.hpp"

#include <fmt/format.h>

#include "suite/experiment/error.hpp"

namespace assay::nn {

void malformed(std::string_view file, std::string_view what) {
    throw UserError(fmt::format("{}: {}", file, what));
}

std::string shown(std::string_view name) {
    constexpr std::size_t most = 80;
    std::string text = "\"";
    for (const char c : name.substr(0, most)) {
        if (c >= ' ' && c <= '~')
            text += c;
        else
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return text + (name.size() > most ? "…\"" : "\"");
}

}  // namespace assay::nn
