#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::drive {
namespace {

constexpr std::uint64_t most_seeds = 10'000'000;

}  // namespace

SeedRange parse_seed_range(const std::string& text) {
    const auto malformed = [&] {
        return UserError(fmt::format(
            "--seeds {}: give one seed (17), or the first and the last of a range (1..20)", text));
    };
    const auto number = [&](std::string_view digits) {
        std::uint64_t value = 0;
        const char* end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, value);
        if (error != std::errc{} || rest != end) throw malformed();
        return value;
    };
    const auto dots = text.find("..");
    SeedRange range;
    range.first = number(std::string_view(text).substr(0, dots));
    range.last =
        dots == std::string::npos ? range.first : number(std::string_view(text).substr(dots + 2));
    if (range.last < range.first)
        throw UserError(fmt::format("--seeds {}: the last seed is before the first", text));
    if (range.last - range.first >= most_seeds)
        throw UserError(
            fmt::format("--seeds {}: more than {} seeds; give a smaller range", text, most_seeds));
    if (range.last == std::numeric_limits<std::uint64_t>::max()) throw malformed();
    return range;
}

std::string to_string(SeedRange range) {
    return range.first == range.last ? fmt::format("{}", range.first)
                                     : fmt::format("{}..{}", range.first, range.last);
}

}  // namespace assay::drive
