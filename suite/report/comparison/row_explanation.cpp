#include "suite/report/comparison/row_explanation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "suite/base/suggested_command.hpp"
#include "suite/compare/judge.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/measure/statistics/bimodality.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/report/comparison/measuring_again.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {
namespace {

using compare::Row;
using compare::Series;

constexpr std::size_t label_columns = 16;

/// Lines "  label         what it is".
class Facts {
  public:
    explicit Facts(std::size_t columns)
        : columns_(columns - std::min(columns - 1, label_columns + 2)) {}

    void add(const std::string& label, const std::string& says) {
        std::string name = label;
        for (const std::string& line : wrapped(says, columns_)) {
            text_ += fmt::format("  {:<{}}{}\n", name, label_columns, line);
            name.clear();
        }
    }
    const std::string& text() const { return text_; }

  private:
    std::size_t columns_;
    std::string text_;
};

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::string with_unit(double value, const std::string& unit) {
    return number(value) + (unit.empty() ? "" : " " + unit);
}

std::string ratio_fact(const Row& row) {
    if (!std::isfinite(row.ratio)) return "none";
    const std::string text = fmt::format("{:.5g}", row.ratio);
    if (row.method == statistics::IntervalMethod::none) {
        if (!std::isfinite(row.low)) return text + ", without an interval";
        if (!row.paired) return text + ", as all values are equal";
        return text + fmt::format(", from {:.5g} to {:.5g} over the pairs", row.low, row.high);
    }
    return text + fmt::format(" [{:.5g}, {:.5g}], {:.4g} %, {}, {}", row.low, row.high,
                              row.level * 100, statistics::to_string(row.method),
                              row.paired ? fmt::format("median of {} pairs", row.n_a)
                                         : compare::unpaired_text(*row.a, *row.b));
}

std::string clusters(const std::vector<double>& values) {
    const statistics::Bimodality shape = statistics::bimodality(values);
    if (!shape.bimodal) return "one cluster";
    return fmt::format("two clusters, {} and {} ({:.0f} % in the upper; D = {:.2g})",
                       number(shape.low), number(shape.high), shape.share_high * 100,
                       shape.separation);
}

/// Of the sides, and of what decides where that is something else: the pairs' ratios.
std::string shape_text(const Row& row, const compare::Basis& basis) {
    std::string text = fmt::format("A {}; B {}", clusters(basis.a), clusters(basis.b));
    if (!row.paired || row.method == statistics::IntervalMethod::none) return text;
    const compare::Pairs pairs = compare::common_pairs(*row.a, *row.b);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < pairs.a.size(); ++i) ratios.push_back(pairs.b[i] / pairs.a[i]);
    return text + "; B/A " + clusters(ratios);
}

/// What the rows of several sessions rest on, and what those of single ones cannot know.
void add_session_facts(Facts& facts, const Row& row, const compare::Basis& basis) {
    if (basis.unit == compare::Basis::Unit::session) {
        const auto listed = [](const std::vector<double>& medians) {
            std::vector<std::string> texts;
            for (const double median : medians) texts.push_back(number(median));
            return fmt::format("{}", fmt::join(texts, ", "));
        };
        return facts.add("sessions",
                         fmt::format("medians of A {}; of B {}", listed(basis.a), listed(basis.b)));
    }
    const bool exact = row.a->deterministic && row.b->deterministic;
    if (!exact && compare::sessions_in(*row.a) == 1 && compare::sessions_in(*row.b) == 1)
        facts.add("sessions", "one of each side; how much sessions differ, two alone cannot tell");
}

/// What only numbers can say.
void add_number_facts(Facts& facts, const Row& row) {
    const auto a = compare::values_of(*row.a), b = compare::values_of(*row.b);
    if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return;
    facts.add("median", fmt::format("A {}, B {}", with_unit(statistics::median(a), row.unit),
                                    with_unit(statistics::median(b), row.unit)));
    const compare::Basis basis = compare::unpaired_basis(*row.a, *row.b);
    add_session_facts(facts, row, basis);
    facts.add("shape", shape_text(row, basis));
}

std::string not_counted(const Row& row) {
    std::vector<std::string> parts;
    for (const auto& [side, name] : {std::pair(row.a, "A"), std::pair(row.b, "B")})
        if (side != nullptr && side->failed + side->excluded > 0)
            parts.push_back(fmt::format("{}: {} failed, {} excluded (skipped or marked invalid)",
                                        name, side->failed, side->excluded));
    return parts.empty() ? "no sample was left out" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string context_text(const Series& series) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : series.context)
        if (!value.empty()) parts.push_back(key + ' ' + value);
    return parts.empty() ? "unknown" : fmt::format("{}", fmt::join(parts, "; "));
}

/// Values with "*" or "**" where they are mild or severe outliers.
std::vector<std::string> marked(const Series* series) {
    if (series == nullptr) return {};
    const auto values = compare::values_of(*series);
    std::vector<statistics::Outlier> marks(values.size(), statistics::Outlier::none);
    if (all_finite(values)) marks = statistics::outliers(values);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < values.size(); ++i)
        texts.push_back(fmt::format("{:.6g}{}", values[i],
                                    marks[i] == statistics::Outlier::severe ? " **"
                                    : marks[i] == statistics::Outlier::mild ? " *"
                                                                            : ""));
    return texts;
}

std::string short_id(const std::string& id) { return id.empty() ? "–" : id.substr(0, 8); }

Grid unpaired_values(const Row& row) {
    const auto a = marked(row.a), b = marked(row.b);
    Grid grid{{"A", "sample", "B", "sample"}};
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
        grid.push_back(
            {i < a.size() ? a[i] : "", i < a.size() ? short_id(row.a->points[i].sample) : "",
             i < b.size() ? b[i] : "", i < b.size() ? short_id(row.b->points[i].sample) : ""});
    return grid;
}

/// A line per pair, then what has no partner.
Grid paired_values(const Row& row) {
    const auto a = marked(row.a), b = marked(row.b);
    Grid grid{{"pair", "A", "B", "B/A", "samples"}};
    std::map<std::string, std::size_t> in_b;
    for (std::size_t i = 0; i < b.size(); ++i) in_b.emplace(row.b->points[i].pair, i);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const compare::Point& mine = row.a->points[i];
        const auto found = in_b.find(mine.pair);
        if (found == in_b.end()) {
            grid.push_back({mine.pair, a[i], "–", "–", short_id(mine.sample)});
            continue;
        }
        const compare::Point& theirs = row.b->points[found->second];
        grid.push_back({mine.pair, a[i], b[found->second],
                        fmt::format("{:.5g}", theirs.value / mine.value),
                        short_id(mine.sample) + " " + short_id(theirs.sample)});
        in_b.erase(found);
    }
    for (std::size_t i = 0; i < b.size(); ++i)
        if (in_b.contains(row.b->points[i].pair))
            grid.push_back(
                {row.b->points[i].pair, "–", b[i], "–", short_id(row.b->points[i].sample)});
    return grid;
}

}  // namespace

std::string row_explanation(const NumberedRow& each, const Compared& compared) {
    const Row& row = *each.row;
    std::string text = fmt::format(
        "\nRow {}: {}{}\n", each.number, compare::names_of(compared.rows).of(row.id).text(),
        row.better == Direction::none ? std::string()
                                      : fmt::format(", {} is better", to_string(row.better)));
    const auto add_lines = [&](const std::string& says) {
        for (const std::string& line : wrapped(says, compared.columns - 2)) text += line + '\n';
    };
    add_lines(fmt::format("{}: {}", compare::to_string(row.verdict), row.reason));
    for (const std::string& warning : row.warnings) add_lines("(!) " + warning);
    Facts facts(compared.columns);
    facts.add("B/A", ratio_fact(row));
    facts.add("margin", fmt::format("{:g} %: from {:.5g} to {:.5g} is the same", row.margin * 100,
                                    1 / (1 + row.margin), 1 + row.margin));
    if (row.a != nullptr && row.b != nullptr) add_number_facts(facts, row);
    facts.add("not counted", not_counted(row));
    for (const std::string& error : row.errors)
        facts.add(&error == row.errors.data() ? "errors" : "", error);
    if (row.a != nullptr) facts.add("context of A", context_text(*row.a));
    if (row.b != nullptr) facts.add("context of B", context_text(*row.b));
    text += '\n' + facts.text() + '\n' +
            text_table(row.paired ? paired_values(row) : unpaired_values(row));
    text += "* mild, ** severe outlier (1.5 and 3 interquartile ranges); none is dropped\n\n";
    const auto suspects = differing_suspects(compared.a, compared.b);
    text += suspects.empty()
                ? "nothing else that both sides tell (commit, compiler, host …) differs\n"
                : fmt::format("differ: {}\n", fmt::join(suspects, "\n        "));
    if (row.b != nullptr && !row.b->points.empty() && !row.b->points.back().sample.empty() &&
        !imported_benchmark(row.id))
        text += fmt::format("one sample again:  {}\n",
                            suggested_line("replay " + short_id(row.b->points.back().sample)));
    if (const std::string again = rerun_command(row, compared.a, compared.b); !again.empty())
        text += fmt::format("to measure again:  {}\n", printable(again));
    return text;
}

}  // namespace assay::report
