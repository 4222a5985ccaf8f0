// The night for the terminal: the verdict, then the rows that need a person.
#include <fmt/format.h>

#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::gate {
namespace {

/// Rows of a kind, or sentences, that a terminal can take.
constexpr std::size_t most_listed = 30;

std::string rest(std::size_t all) {
    if (all <= most_listed) return "";
    return fmt::format("… and {} more; {}\n", all - most_listed, where_all_are);
}

std::string sentences(std::string_view kind, const std::vector<std::string>& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size() && i < most_listed; ++i)
        text += fmt::format("{}: {}\n", kind, report::printable(all[i]));
    return text + rest(all.size());
}

std::string listed(Heading which, const std::vector<const NightRow*>& rows,
                   const report::RowNames& names, std::size_t columns) {
    if (rows.empty()) return "";
    if (which == Heading::same) return fmt::format("{}: {}\n", title(which), rows.size());
    if (which == Heading::undecided || which == Heading::not_compared ||
        which == Heading::informational) {
        std::vector<RowId> ids;
        for (const NightRow* row : rows) ids.push_back(row->against_baseline.id);
        return fmt::format("{}: {} ({})\n", title(which), rows.size(), few_names(ids, names));
    }
    report::Grid grid = {{"row", "change", "ratio", "reruns", "why"}};
    for (std::size_t i = 0; i < rows.size() && i < most_listed; ++i) {
        const NightRow& row = *rows[i];
        grid.push_back({names.of(row.against_baseline.id).text(),
                        change_words(row.against_baseline), ratio_words(row.against_baseline),
                        row.rerun ? change_words(*row.rerun) : "–",
                        report::printable(why_words(row))});
    }
    return fmt::format("{}: {}\n{}{}", title(which), rows.size(), report::text_table(grid, columns),
                       rest(rows.size()));
}

}  // namespace

std::string terminal_text(const Night& night, std::size_t columns) {
    std::string text =
        fmt::format("{}: {}\n", report::printable(night.suite), verdict_words(night));
    text += sentences("could not be run", night.failures) +
            sentences("below its level", night.below_level);
    const auto groups = by_heading(night);
    const report::RowNames names = names_of(night);
    for (int i = 0; i < heading_count; ++i)
        text +=
            listed(static_cast<Heading>(i), groups[static_cast<std::size_t>(i)], names, columns);
    text += sentences("warning", night.warnings);
    for (const auto& [name, value] : facts(night))
        text += fmt::format("{:16} {}\n", report::printable(name), report::printable(value));
    return text;
}

}  // namespace assay::gate
