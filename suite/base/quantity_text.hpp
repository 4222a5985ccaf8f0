// Durations, sizes and counts as people read and write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// "43 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// "12 kB", "3.4 MB".
std::string bytes_text(double bytes);

/// The whole number that it is; nullopt: none, or beyond 2^53, where doubles skip some.
std::optional<std::int64_t> whole_number(double number);

/// A count as people write large ones, too: "1000", "1e3", "2.5e6".
std::optional<std::int64_t> whole_number(std::string_view text);

/// What a value in one unit is multiplied with to be in another of the same quantity: 0.001 from
/// "ms" to "s"; times, bytes, flops, hertz, watts, joules, each per second too, shares. nullopt:
/// another quantity, or a unit that is not known.
std::optional<double> unit_factor(std::string_view from, std::string_view to);

}  // namespace assay
