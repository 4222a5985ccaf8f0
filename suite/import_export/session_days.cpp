#include "suite/import_export/session_days.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

/// As suites of the nightly gate tell nights apart.
constexpr std::chrono::hours one_night{4};
constexpr std::chrono::hours longest{24};

std::string day_text(Moment at) {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(at)};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

}  // namespace

std::map<Moment, std::string> session_days(const std::set<Moment>& started) {
    std::map<Moment, std::string> days;
    std::string day;
    Moment first{}, before{};
    for (const Moment at : started) {
        if (day.empty() ||
            (day_text(at) != day && (at - before >= one_night || at - first >= longest))) {
            day = day_text(at);
            first = at;
        }
        before = at;
        days[at] = day;
    }
    return days;
}

}  // namespace assay
