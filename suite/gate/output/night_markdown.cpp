// Markdown for a step summary or a comment: the verdict first, then what fails, then what changed;
// the rest folds away.
#include <fmt/format.h>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::gate {
namespace {

/// A step summary may hold 1 MiB; 400 rows of each kind stay far below it.
constexpr std::size_t most_rows = 400;
/// Rows of which the evidence is written out.
constexpr std::size_t most_explained = 20;

std::string_view mark(NightVerdict verdict) {
    switch (verdict) {
        case NightVerdict::clean:
            return "✅";
        case NightVerdict::no_baseline:
            return "⚪";
        case NightVerdict::error:
            return "⚠️";
        case NightVerdict::regression:
            return "❌";
        case NightVerdict::ambiguous:
            return "❔";
    }
    return "";
}

std::string table(const std::vector<const NightRow*>& rows, const report::RowNames& names) {
    std::string out =
        "| row | change | ratio [interval] | margin | reruns | why |\n"
        "|---|---:|---:|---:|---:|---|\n";
    for (std::size_t i = 0; i < rows.size() && i < most_rows; ++i) {
        const NightRow& row = *rows[i];
        const compare::Row& against = row.against_baseline;
        out += fmt::format(
            "| {} | {} | {} | {:g} % | {} | {} |\n",
            report::markdown_cell(names.of(against.id).text()),
            report::markdown_cell(change_words(against)),
            report::markdown_cell(ratio_words(against)), against.margin * 100,
            row.rerun ? report::markdown_cell(change_words(*row.rerun)) : "–",
            report::markdown_cell(why_words(row).empty() ? against.reason : why_words(row)));
    }
    if (rows.size() > most_rows)
        out +=
            fmt::format("\n{} more are in the JSON and HTML reports.\n", rows.size() - most_rows);
    return out;
}

std::string explained(const std::vector<const NightRow*>& rows, const report::RowNames& names) {
    std::string out;
    for (std::size_t i = 0; i < rows.size() && i < most_explained; ++i) {
        out += fmt::format("<details><summary>Evidence: {}</summary>\n\n",
                           report::escaped(names.of(rows[i]->against_baseline.id).text()));
        for (const std::string& sentence : evidence(*rows[i]))
            out += "- " + report::markdown_cell(sentence) + '\n';
        out += "\n</details>\n";
    }
    return out;
}

bool folds(Heading heading) {
    return heading != Heading::regression && heading != Heading::candidate &&
           heading != Heading::fixed;
}

std::string list(std::string_view title, const std::vector<std::string>& sentences) {
    if (sentences.empty()) return "";
    std::string out = fmt::format("\n### {}\n\n", title);
    for (std::size_t i = 0; i < sentences.size() && i < most_rows; ++i)
        out += "- " + report::markdown_cell(sentences[i]) + '\n';
    return out;
}

}  // namespace

std::string markdown_summary(const Night& night) {
    std::string out =
        fmt::format("## {} {}: {}\n", mark(night.verdict), report::markdown_cell(night.suite),
                    report::markdown_cell(verdict_words(night)));
    out += list("Below their level", night.below_level);
    out += list("Could not be run", night.failures);
    // Why it is no pass comes before the rows.
    const bool is_ambiguous = night.verdict == NightVerdict::ambiguous;
    if (is_ambiguous) out += list("Warnings", night.warnings);
    const auto groups = by_heading(night);
    const report::RowNames names = names_of(night);
    for (int i = 0; i < heading_count; ++i) {
        const auto& group = groups[static_cast<std::size_t>(i)];
        if (group.empty()) continue;
        const auto which = static_cast<Heading>(i);
        if (folds(which))
            out += fmt::format("\n<details><summary>{} ({})</summary>\n\n{}\n</details>\n",
                               title(which), group.size(), table(group, names));
        else
            out += fmt::format("\n### {} ({})\n\n{}\n{}", title(which), group.size(),
                               table(group, names), explained(group, names));
    }
    if (!is_ambiguous) out += list("Warnings", night.warnings);
    out += "\n<details><summary>The night</summary>\n\n| | |\n|---|---|\n";
    for (const auto& [name, value] : facts(night))
        out +=
            fmt::format("| {} | {} |\n", report::markdown_cell(name), report::markdown_cell(value));
    return out + "\n</details>\n";
}

}  // namespace assay::gate
