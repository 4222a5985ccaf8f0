// Times as the store writes them: ISO 8601, UTC, milliseconds; text order is time order.
#include "suite/store/timestamp.hpp"

#include <fmt/format.h>
#include <time.h>

namespace assay::store {

std::string utc(std::chrono::system_clock::time_point at) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count();
    const time_t seconds = static_cast<time_t>(ms / 1000);
    tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                       ms % 1000);
}

std::string now_utc() { return utc(std::chrono::system_clock::now()); }

}  // namespace assay::store
