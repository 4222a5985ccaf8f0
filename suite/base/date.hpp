// Dates as other programs and people write them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace assay {

/// The moment that a text names, of the years 1970 to 2200; nullopt: it names none.
///   2026-11-21T02:03:04.567+01:00   with Z, +01:00, +0100 or +01; a space may stand for the T
///   2026-11-21 02:03:04             without such an offset, local time of this machine
///   2026-11-21 02:03, 2026-11-21    from the beginning of that minute, that day
///   2026/11/21 02:03:04             the same with slashes
///   11/21/26 02:03:04, 11/21/2026   month first, as the C library writes %x; years from 1969 on
std::optional<std::chrono::system_clock::time_point> read_date(std::string_view text);

}  // namespace assay
