// Markdown for a step summary or a comment: the verdict first, then what fails, then what changed;
// the rest folds away.
#include <fmt/format.h>

#include <algorithm>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::gate {
namespace {

/// How much is written out: halved until the whole is below report::longest_markdown.
struct Bounds {
    std::size_t rows = 400;      ///< of each kind
    std::size_t explained = 20;  ///< of which the evidence is there
};

/// No name or sentence takes more.
constexpr std::size_t longest_text = 1000;

std::string cell(const std::string& text) {
    return report::markdown_cell(report::shortened(text, longest_text));
}

std::string more(std::size_t all, std::size_t shown) {
    if (all <= shown) return {};
    return fmt::format("\n{} more are in the JSON and HTML reports.\n", all - shown);
}

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

std::string table(const std::vector<const NightRow*>& rows, const report::RowNames& names,
                  std::size_t most_rows) {
    std::string out =
        "| row | change | ratio [interval] | margin | reruns | why |\n"
        "|---|---:|---:|---:|---:|---|\n";
    for (std::size_t i = 0; i < rows.size() && i < most_rows; ++i) {
        const NightRow& row = *rows[i];
        const compare::Row& against = row.against_baseline;
        out +=
            fmt::format("| {} | {} | {} | {:g} % | {} | {} |\n", cell(names.of(against.id).text()),
                        cell(change_words(against)), cell(ratio_words(against)),
                        against.margin * 100, row.rerun ? cell(change_words(*row.rerun)) : "–",
                        cell(why_words(row).empty() ? against.reason : why_words(row)));
    }
    return out + more(rows.size(), most_rows);
}

std::string explained(const std::vector<const NightRow*>& rows, const report::RowNames& names,
                      std::size_t most_explained) {
    std::string out;
    for (std::size_t i = 0; i < rows.size() && i < most_explained; ++i) {
        out += fmt::format("<details><summary>Evidence: {}</summary>\n\n",
                           report::escaped(report::shortened(
                               names.of(rows[i]->against_baseline.id).text(), longest_text)));
        for (const std::string& sentence : evidence(*rows[i])) out += "- " + cell(sentence) + '\n';
        out += "\n</details>\n";
    }
    return out;
}

bool folds(Heading heading) {
    return heading != Heading::regression && heading != Heading::candidate &&
           heading != Heading::fixed;
}

std::string list(std::string_view title, const std::vector<std::string>& sentences,
                 std::size_t most_rows) {
    if (sentences.empty()) return "";
    std::string out = fmt::format("\n### {}\n\n", title);
    for (std::size_t i = 0; i < sentences.size() && i < most_rows; ++i)
        out += "- " + cell(sentences[i]) + '\n';
    return out + more(sentences.size(), most_rows);
}

using Groups = std::vector<std::vector<const NightRow*>>;

std::string summary(const Night& night, const Groups& groups, const report::RowNames& names,
                    const Bounds& bounds) {
    std::string out = fmt::format("## {} {}: {}\n", mark(night.verdict), cell(night.suite),
                                  cell(verdict_words(night)));
    out += list("Below their level", night.below_level, bounds.rows);
    out += list("Could not be run", night.failures, bounds.rows);
    // Why it is no pass comes before the rows.
    const bool is_ambiguous = night.verdict == NightVerdict::ambiguous;
    if (is_ambiguous) out += list("Warnings", night.warnings, bounds.rows);
    for (int i = 0; i < heading_count; ++i) {
        const auto& group = groups[static_cast<std::size_t>(i)];
        if (group.empty()) continue;
        const auto which = static_cast<Heading>(i);
        if (folds(which))
            out += fmt::format("\n<details><summary>{} ({})</summary>\n\n{}\n</details>\n",
                               title(which), group.size(), table(group, names, bounds.rows));
        else
            out += fmt::format("\n### {} ({})\n\n{}\n{}", title(which), group.size(),
                               table(group, names, bounds.rows),
                               explained(group, names, bounds.explained));
    }
    if (!is_ambiguous) out += list("Warnings", night.warnings, bounds.rows);
    out += "\n<details><summary>The night</summary>\n\n| | |\n|---|---|\n";
    for (const auto& [name, value] : facts(night))
        out += fmt::format("| {} | {} |\n", cell(name), cell(value));
    return out + "\n</details>\n";
}

}  // namespace

std::string markdown_summary(const Night& night) {
    const Groups groups = by_heading(night);
    const report::RowNames names = names_of(night);
    Bounds bounds;
    std::string text = summary(night, groups, names, bounds);
    while (text.size() > report::longest_markdown && bounds.rows > 1) {
        bounds.rows /= 2;
        bounds.explained = std::min(bounds.explained, bounds.rows);
        text = summary(night, groups, names, bounds);
    }
    return text;
}

}  // namespace assay::gate
