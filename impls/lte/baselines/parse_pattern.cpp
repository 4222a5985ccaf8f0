#include <fmt/format.h>

#include <charconv>

#include "impls/lte/baselines/pruning.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

template <class Number>
bool read(std::string_view text, Number& value) {
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

PruningPattern parse_pattern(std::string_view text) {
    PruningPattern pattern;
    const auto colon = text.find(':');
    if (colon != std::string_view::npos) {
        if (read(text.substr(0, colon), pattern.n) && read(text.substr(colon + 1), pattern.m) &&
            pattern.n >= 0 && pattern.n < pattern.m) {
            pattern.share = static_cast<double>(pattern.n) / pattern.m;
            return pattern;
        }
    } else if (read(text, pattern.share) && pattern.share >= 0 && pattern.share < 1) {
        return pattern;
    }
    throw UserError(fmt::format(
        "pruning pattern \"{}\": give a share of 0 to below 1 (0.5), or how many of how many "
        "neighbouring weights to remove (2:4, 4:8)",
        text));
}

}  // namespace assay::lte
