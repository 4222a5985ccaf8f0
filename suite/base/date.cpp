#include "suite/base/date.hpp"

#include <charconv>
#include <ctime>

namespace assay {
namespace {

using Clock = std::chrono::system_clock;

constexpr int first_year = 1970, last_year = 2200;

/// Takes a text apart from its beginning.
class DateText {
  public:
    explicit DateText(std::string_view text) : left_(text) {}

    bool at_end() const { return left_.empty(); }

    /// One of these characters; '\0': none.
    char any_of(std::string_view characters) {
        if (left_.empty() || characters.find(left_.front()) == characters.npos) return '\0';
        const char found = left_.front();
        left_.remove_prefix(1);
        return found;
    }

    /// Digits, from `least` to `most` of them.
    std::optional<int> number(std::size_t least, std::size_t most) {
        std::size_t digits = 0;
        while (digits < left_.size() && left_[digits] >= '0' && left_[digits] <= '9') ++digits;
        if (digits < least || digits > most) return std::nullopt;
        int value = 0;
        std::from_chars(left_.data(), left_.data() + digits, value);
        digits_ = digits;
        left_.remove_prefix(digits);
        return value;
    }
    std::size_t digits() const { return digits_; }  ///< of the last number

  private:
    std::string_view left_;
    std::size_t digits_ = 0;
};

std::optional<std::chrono::year_month_day> read_day(DateText& text) {
    const auto first = text.number(1, 4);
    if (!first || text.digits() == 3) return std::nullopt;
    const bool year_first = text.digits() == 4;
    const char separator = text.any_of(year_first ? "-/" : "/");
    if (separator == '\0') return std::nullopt;
    const auto second = text.number(1, 2);
    if (!second || text.any_of({&separator, 1}) == '\0') return std::nullopt;
    auto third = text.number(1, year_first ? 2 : 4);
    if (!third || text.digits() == 3) return std::nullopt;
    if (!year_first && text.digits() <= 2) *third += *third < 69 ? 2000 : 1900;
    const int year = year_first ? *first : *third;
    const int month = year_first ? *second : *first, day = year_first ? *third : *second;
    const std::chrono::year_month_day found{std::chrono::year(year),
                                            std::chrono::month(static_cast<unsigned>(month)),
                                            std::chrono::day(static_cast<unsigned>(day))};
    if (!found.ok() || year < first_year || year > last_year) return std::nullopt;
    return found;
}

/// "02:03", "02:03:04", "02:03:04.567" since midnight.
std::optional<std::chrono::milliseconds> read_time_of_day(DateText& text) {
    const auto hour = text.number(1, 2);
    if (!hour || *hour > 23 || text.any_of(":") == '\0') return std::nullopt;
    const auto minute = text.number(2, 2);
    if (!minute || *minute > 59) return std::nullopt;
    std::chrono::milliseconds time = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
    if (text.any_of(":") == '\0') return time;
    const auto second = text.number(2, 2);
    if (!second || *second > 60) return std::nullopt;  // 60: a leap second
    time += std::chrono::seconds(*second);
    if (text.any_of(".,") == '\0') return time;
    const auto fraction = text.number(1, 9);
    if (!fraction) return std::nullopt;
    double milliseconds = *fraction;
    for (std::size_t digits = text.digits(); digits > 3; --digits) milliseconds /= 10;
    for (std::size_t digits = text.digits(); digits < 3; ++digits) milliseconds *= 10;
    return time + std::chrono::milliseconds(static_cast<int>(milliseconds));
}

/// "Z", "+01:00", "-0530", "+01"; nullopt: something else.
std::optional<std::chrono::minutes> read_offset(DateText& text) {
    if (text.any_of("Zz") != '\0') return std::chrono::minutes(0);
    const char sign = text.any_of("+-");
    const auto number = text.number(2, 4);
    if (sign == '\0' || !number || text.digits() == 3) return std::nullopt;
    int hours = *number, minutes = 0;
    if (text.digits() == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (text.any_of(":") != '\0') {
        const auto after = text.number(2, 2);
        if (!after) return std::nullopt;
        minutes = *after;
    }
    if (hours > 23 || minutes > 59) return std::nullopt;
    return std::chrono::minutes((sign == '-' ? -1 : 1) * (hours * 60 + minutes));
}

std::optional<Clock::time_point> local(const std::chrono::year_month_day& day,
                                       std::chrono::milliseconds time) {
    std::tm fields{};
    fields.tm_year = static_cast<int>(day.year()) - 1900;
    fields.tm_mon = static_cast<int>(static_cast<unsigned>(day.month())) - 1;
    fields.tm_mday = static_cast<int>(static_cast<unsigned>(day.day()));
    const std::chrono::hh_mm_ss clock(time);
    fields.tm_hour = static_cast<int>(clock.hours().count());
    fields.tm_min = static_cast<int>(clock.minutes().count());
    fields.tm_sec = static_cast<int>(clock.seconds().count());
    fields.tm_isdst = -1;
    const std::time_t at = std::mktime(&fields);
    if (at < 0) return std::nullopt;
    return Clock::from_time_t(at) + clock.subseconds();
}

}  // namespace

std::optional<Clock::time_point> read_date(std::string_view typed) {
    DateText text(typed);
    const auto day = read_day(text);
    if (!day) return std::nullopt;
    std::optional<std::chrono::milliseconds> time = std::chrono::milliseconds(0);
    if (text.at_end()) return local(*day, *time);
    if (text.any_of("T ") == '\0' || !(time = read_time_of_day(text))) return std::nullopt;
    if (text.at_end()) return local(*day, *time);
    text.any_of(" ");
    const auto offset = read_offset(text);
    if (!offset || !text.at_end()) return std::nullopt;
    return std::chrono::sys_days(*day) + *time - *offset;
}

}  // namespace assay
