// Dates as other programs and people write them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The moment that a text names, of the years 1970 to 2200; nullopt: it names none.
///   2026-11-21T02:03:04.567+01:00   with Z, UTC, +01:00, +0100 or +01, after a space too; a space
///                                   may stand for the T, a comma for the point
///   2026-11-21 02:03:04             without such an offset, local time of this machine
///   2026-11-21 02:03, 2026-11-21    from the beginning of that minute, that day
///   2026/11/21 02:03:04             the same with slashes
///   11/21/26 02:03:04, 11/21/2026   month first, as the C library writes %x; years from 1969 on
///   20261121T020304Z                the same without separators; a hyphen may stand for the T
///   1795226584.5, 1795226584500     seconds and milliseconds since 1970
std::optional<std::chrono::system_clock::time_point> read_date(std::string_view text);

/// Why a text that is written as a date names no moment: "there is no hour 25"; "" for a date, and
/// for what is written otherwise.
std::string impossible_date(std::string_view text);

}  // namespace assay
