#include "suite/cli/json_output.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>

#include "suite/report/utf8.hpp"

namespace assay::cli {
namespace {

/// The same JSON with "\u202e" instead of what a terminal must not get; JSON itself asks only for
/// the lowest control characters to be written so.
std::string text_of(const nlohmann::json& value, int indent) {
    const std::string dumped =
        value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string out;
    out.reserve(dumped.size());
    for (std::size_t at = 0; at < dumped.size();) {
        const report::CodePoint c = report::code_point(dumped, at);
        const auto code = static_cast<std::uint32_t>(c.value);
        if (c.value == '\n' || report::is_printable(c))
            out.append(dumped, at, c.bytes);
        else if (code < 0x10000)
            out += fmt::format("\\u{:04x}", code);
        else
            out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10),
                               0xdc00 + ((code - 0x10000) & 0x3ff));
        at += c.bytes;
    }
    return out;
}

}  // namespace

void print_json(const nlohmann::json& value) { std::cout << text_of(value, 2) << '\n'; }

void print_json_line(const nlohmann::json& value) {
    std::cout << text_of(value, -1) << '\n' << std::flush;
}

}  // namespace assay::cli
