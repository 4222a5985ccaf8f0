// Ids of rows, and times as text.
#include "suite/store/ids.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

#include "suite/base/sha256.hpp"
#include "suite/store/row_codec.hpp"

namespace assay::store {
namespace {

template <class Enum>
std::string word(const std::optional<Enum>& value) {
    return value ? std::string(to_string(*value)) : std::string();
}

}  // namespace

// Not the time-ordered version 7: people type the first characters, and those of all ids of one
// session would be the same.
std::string new_uuid() {
    // From the kernel each time: a generator in the process would repeat itself after fork().
    std::array<unsigned char, 16> b;
    if (getrandom(b.data(), b.size(), 0) != static_cast<ssize_t>(b.size()))
        throw std::system_error(errno, std::generic_category(), "getrandom");
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    std::string text;
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", b[i]);
    }
    return text;
}

std::string new_uuid_beside(std::string_view other) {
    std::string text = new_uuid();
    const auto shared = other.substr(0, 2);
    if (shared.size() == 2 && shared.find_first_not_of("0123456789abcdef") == shared.npos)
        text.replace(0, 2, shared);
    return text;
}

std::string derived_uuid(std::string_view text) {
    auto hex = sha256_hex(text);
    hex[12] = '8';  // RFC 9562: version 8 is ours to define, variant 10xx
    hex[16] = "89ab"[(hex[16] <= '9' ? hex[16] - '0' : hex[16] - 'a' + 10) % 4];
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20, 12));
}

std::vector<std::string> series_columns(const SeriesKey& key) {
    return {key.experiment,
            key.variant,
            canonical(key.axes),
            std::string(to_string(key.profile)),
            std::string(to_string(key.provenance)),
            key.scenario,
            key.hardware,
            key.calibration,
            key.data};
}

std::string series_id(const std::vector<std::string>& columns) {
    return derived_uuid(json_text(columns));
}

RowId row_id(const SeriesKey& key, const MetricKey& metric) {
    return {.experiment = key.experiment,
            .variant = key.variant,
            .axes = key.axes,
            .metric = metric.name,
            .labels = metric.labels,
            .profile = key.profile,
            .provenance = key.provenance,
            .scenario = key.scenario};
}

std::vector<std::string> gate_row_columns(const RowId& id) {
    return {id.experiment,       id.variant,  canonical(id.axes), word(id.profile),
            word(id.provenance), id.scenario, id.metric,          canonical(id.labels)};
}

std::string gate_row_id(const std::vector<std::string>& columns) {
    return derived_uuid(json_text(columns));
}

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

std::string utc_after(std::string_view newest) {
    std::string now = now_utc();
    if (now > newest) return now;
    const auto at = parse_utc(newest);
    return at ? utc(*at + std::chrono::milliseconds(1)) : now;
}

std::string future_words(std::string_view date) {
    constexpr std::chrono::minutes clocks_differ_by{10};
    const auto at = parse_utc(date);
    if (!at || *at <= std::chrono::system_clock::now() + clocks_differ_by) return {};
    return fmt::format("is dated {:.10} {:.5}, in the future: the clock was wrong then, or is now",
                       date, date.substr(11));
}

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (i == 8 || i == 13 || i == 18 || i == 23
                ? text[i] != '-'
                : std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos)
            return false;
    return true;
}

std::optional<std::chrono::system_clock::time_point> parse_utc(std::string_view text) {
    constexpr std::string_view shape = "0000-00-00T00:00:00.000Z";
    if (text.size() != shape.size()) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t digits) {
        return std::stoi(std::string(text.substr(at, digits)));
    };
    const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                          std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    const int hours = number(11, 2), minutes = number(14, 2), seconds = number(17, 2);
    if (!day.ok() || hours >= 24 || minutes >= 60 || seconds >= 60) return std::nullopt;
    return std::chrono::sys_days(day) + std::chrono::hours(hours) + std::chrono::minutes(minutes) +
           std::chrono::seconds(seconds) + std::chrono::milliseconds(number(20, 3));
}

}  // namespace assay::store
