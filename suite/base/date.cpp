#include "suite/base/date.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <stdexcept>

namespace assay {
namespace {

using Clock = std::chrono::system_clock;

constexpr int first_year = 1970, last_year = 2200;

/// A text is written as a date, and there is no such day or time.
struct Impossible : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void check(const char* what, int number, int least, int most) {
    if (number < least || number > most)
        throw Impossible("there is no " + std::string(what) + ' ' + std::to_string(number));
}

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

    /// All digits that come next.
    std::int64_t whole() {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
        left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
        return error == std::errc() ? value : 0;
    }
    /// How many digits come next.
    std::size_t digits_ahead() const {
        return std::min(left_.find_first_not_of("0123456789"), left_.size());
    }
    bool word(std::string_view expected) {
        if (!left_.starts_with(expected)) return false;
        left_.remove_prefix(expected.size());
        return true;
    }

  private:
    std::string_view left_;
    std::size_t digits_ = 0;
};

std::chrono::year_month_day day_of(int year, int month, int day) {
    check("year", year, first_year, last_year);
    check("month", month, 1, 12);
    const std::chrono::year_month_day found{std::chrono::year(year),
                                            std::chrono::month(static_cast<unsigned>(month)),
                                            std::chrono::day(static_cast<unsigned>(day))};
    if (!found.ok()) throw Impossible("that month has no day " + std::to_string(day));
    return found;
}

std::optional<std::chrono::year_month_day> read_day(DateText& text) {
    if (text.digits_ahead() == 8) {
        const int all = *text.number(8, 8);
        return day_of(all / 10000, all / 100 % 100, all % 100);
    }
    const auto first = text.number(1, 4);
    if (!first || text.digits() == 3) return std::nullopt;
    const bool year_first = text.digits() == 4;
    const char separator = text.any_of(year_first ? "-/" : "/");
    if (separator == '\0') return std::nullopt;
    const auto second = text.number(1, 2);
    if (!second || text.any_of({&separator, 1}) == '\0') return std::nullopt;
    auto third = text.number(1, year_first ? 2 : 4);
    if (!third || text.digits() == 3) return std::nullopt;
    if (year_first) return day_of(*first, *second, *third);
    if (text.digits() <= 2) *third += *third < 69 ? 2000 : 1900;
    if (*first > 12) return std::nullopt;  // elsewhere the day comes first: another form
    return day_of(*third, *first, *second);
}

/// ".567" or ",567"; nothing of it: zero; nullopt: no digits follow.
std::optional<std::chrono::milliseconds> read_fraction(DateText& text) {
    if (text.any_of(".,") == '\0') return std::chrono::milliseconds(0);
    const auto fraction = text.number(1, 9);
    if (!fraction) return std::nullopt;
    double milliseconds = *fraction;
    for (std::size_t digits = text.digits(); digits > 3; --digits) milliseconds /= 10;
    for (std::size_t digits = text.digits(); digits < 3; ++digits) milliseconds *= 10;
    return std::chrono::milliseconds(static_cast<int>(milliseconds));
}

/// "02:03", "02:03:04", "02:03:04.567", "020304" since midnight.
std::optional<std::chrono::milliseconds> read_time_of_day(DateText& text) {
    const bool compact = text.digits_ahead() == 6;
    std::optional<int> hour, minute, second = 0;
    if (compact) {
        const int all = *text.number(6, 6);
        hour = all / 10000, minute = all / 100 % 100, second = all % 100;
    } else {
        hour = text.number(1, 2);
        if (!hour || text.any_of(":") == '\0') return std::nullopt;
        minute = text.number(2, 2);
        if (!minute) return std::nullopt;
    }
    const bool has_seconds = compact || text.any_of(":") != '\0';
    if (!compact && has_seconds) second = text.number(2, 2);
    if (!second) return std::nullopt;
    check("hour", *hour, 0, 23);
    check("minute", *minute, 0, 59);
    check("second", *second, 0, 60);  // 60: a leap second
    const auto fraction = has_seconds ? read_fraction(text) : std::chrono::milliseconds(0);
    if (!fraction) return std::nullopt;
    return std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second) + *fraction;
}

/// "Z", "UTC", "+01:00", "-0530", "+01"; nullopt: something else.
std::optional<std::chrono::minutes> read_offset(DateText& text) {
    if (text.any_of("Zz") != '\0' || text.word("UTC") || text.word("GMT"))
        return std::chrono::minutes(0);
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
    if (text.at_end()) {
        check("offset of hours", hours, 0, 23);
        check("offset of minutes", minutes, 0, 59);
    }
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

/// Seconds since 1970 have ten digits from 2001 to 2286, milliseconds thirteen.
std::optional<Clock::time_point> since_1970(DateText text) {
    const bool seconds = text.digits_ahead() == 10;
    if (!seconds && text.digits_ahead() != 13) return std::nullopt;
    auto at = std::chrono::milliseconds(text.whole());
    if (seconds) {
        const auto fraction = read_fraction(text);
        if (!fraction) return std::nullopt;
        at = 1000 * at + *fraction;
    }
    if (!text.at_end() || at / std::chrono::hours(24 * 366) > last_year - first_year)
        return std::nullopt;
    return Clock::time_point(at);
}

/// Impossible.
std::optional<Clock::time_point> date_in(std::string_view typed) {
    DateText text(typed);
    if (const auto at = since_1970(text)) return at;
    const auto day = read_day(text);
    if (!day) return std::nullopt;
    std::optional<std::chrono::milliseconds> time = std::chrono::milliseconds(0);
    if (text.at_end()) return local(*day, *time);
    if (text.any_of("T -") == '\0' || !(time = read_time_of_day(text))) return std::nullopt;
    if (text.at_end()) return local(*day, *time);
    text.any_of(" ");
    const auto offset = read_offset(text);
    if (!offset || !text.at_end()) return std::nullopt;
    return std::chrono::sys_days(*day) + *time - *offset;
}

}  // namespace

std::optional<Clock::time_point> read_date(std::string_view text) {
    try {
        return date_in(text);
    } catch (const Impossible&) {
        return std::nullopt;
    }
}

std::string impossible_date(std::string_view text) {
    try {
        date_in(text);
        return {};
    } catch (const Impossible& impossible) {
        return impossible.what();
    }
}

}  // namespace assay
