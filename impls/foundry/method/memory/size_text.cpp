#include "impls/foundry/method/memory/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "suite/base/quantity_text.hpp"

namespace assay::foundry {

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = parse_number(text.substr(0, digits));
    const std::string_view unit = text.substr(digits);
    if (!number || unit.empty()) return number;
    const auto factor = unit_factor(unit, "B");
    if (!factor || *factor < 1) return std::nullopt;
    const auto bytes = static_cast<std::uint64_t>(*factor);
    if (*number > std::numeric_limits<std::uint64_t>::max() / bytes) return std::nullopt;
    return *number * bytes;
}

std::optional<std::uint64_t> parse_address(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    return hex ? parse_number(text.substr(2), 16) : parse_number(text);
}

std::string binary_bytes_text(std::uint64_t bytes) {
    double count = static_cast<double>(bytes);
    for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
        if (count < 1024) return fmt::format("{:.4g} {}", count, unit);
        count /= 1024;
    }
    return fmt::format("{:.4g} TiB", count);
}

std::string address_text(std::uint64_t address) { return fmt::format("{:#x}", address); }

}  // namespace assay::foundry
