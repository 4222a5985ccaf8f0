// Workflow commands that GitHub Actions shows as annotations of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::gate {
namespace {

/// GitHub shows ten of a kind per step; the last place says how many it does not show.
constexpr std::size_t most_of_a_kind = 10;

/// As the runner of GitHub Actions decodes it, which shows the text on a terminal, too.
std::string message_data(std::string_view text) {
    std::string out;
    for (const char c : report::printable(text, "\n")) {
        if (c == '%')
            out += "%25";
        else if (c == '\n')
            out += "%0A";
        else
            out += c;
    }
    return out;
}

std::string command_property(std::string_view text) {
    std::string out;
    for (const char c : message_data(text)) {
        if (c == ':')
            out += "%3A";
        else if (c == ',')
            out += "%2C";
        else
            out += c;
    }
    return out;
}

struct Annotation {
    std::string title, text;
};

std::string lines(std::string_view kind, const std::vector<Annotation>& all,
                  std::string_view suite) {
    const bool cut = all.size() > most_of_a_kind;
    const std::size_t shown = cut ? most_of_a_kind - 1 : all.size();
    std::string out;
    for (std::size_t i = 0; i < shown; ++i)
        out += fmt::format("::{} title={}::{}\n", kind, command_property(all[i].title),
                           message_data(all[i].text));
    if (cut)
        out += fmt::format("::{} title={}::{} more; {}\n", kind, command_property(suite),
                           all.size() - shown, where_all_are);
    return out;
}

std::vector<Annotation> of_rows(const std::vector<const NightRow*>& rows,
                                const report::RowNames& names) {
    std::vector<Annotation> all;
    for (const NightRow* row : rows)
        all.push_back({fmt::format("{}: {}", names.of(row->against_baseline.id).text(),
                                   change_words(row->against_baseline)),
                       fmt::format("{}", fmt::join(evidence(*row), "\n"))});
    return all;
}

}  // namespace

std::string github_annotations(const Night& night) {
    const auto groups = by_heading(night);
    const report::RowNames names = names_of(night);
    const auto rows = [&](Heading of) {
        return of_rows(groups[static_cast<std::size_t>(of)], names);
    };
    std::vector<Annotation> errors = rows(Heading::regression);
    if (mean_beyond_margin(night))
        errors.push_back(
            {"all rows together", fmt::format("slower by a factor of {:.4g}, margin {:g}",
                                              *night.geometric_mean, night.margin)});
    for (const std::string& row : night.below_level)
        errors.push_back({night.suite + " below its level", row});
    for (const std::string& failure : night.failures)
        errors.push_back({night.suite + " could not be run whole", failure});
    std::vector<Annotation> warnings, notices;
    // A night that judged nothing, or too little, must not look like one that passed.
    const bool blind =
        night.verdict == NightVerdict::ambiguous || night.verdict == NightVerdict::no_baseline;
    (blind ? warnings : notices).push_back({"assay nightly " + night.suite, verdict_words(night)});
    if (blind)
        for (const std::string& warning : night.warnings)
            warnings.push_back({night.suite, warning});
    for (Annotation& candidate : rows(Heading::candidate)) warnings.push_back(std::move(candidate));
    if (!blind)
        for (const std::string& warning : night.warnings)
            warnings.push_back({night.suite, warning});
    for (Annotation& fixed : rows(Heading::fixed)) notices.push_back(std::move(fixed));
    return lines("error", errors, night.suite) + lines("warning", warnings, night.suite) +
           lines("notice", notices, night.suite);
}

}  // namespace assay::gate
