// A seed as users type it.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "suite/experiment/error.hpp"

namespace assay {

/// Throws UserError, naming the flag and the range, for anything but 0 to 2^64-1 in decimal digits.
inline std::uint64_t parse_seed(std::string_view text) {
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seed);
    if (error != std::errc{} || stop != end)
        throw UserError("--seed '" + std::string(text) +
                        "': give a whole number from 0 to 18446744073709551615");
    return seed;
}

}  // namespace assay
