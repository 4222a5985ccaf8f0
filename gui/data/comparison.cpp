#include "gui/data/comparison.hpp"

#include <fmt/format.h>

#include <utility>

#include "suite/base/error.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/compare/warnings.hpp"

namespace assay::gui {

std::shared_ptr<const Comparison> read_comparison(const Registry& registry,
                                                  const store::Store& store,
                                                  const std::string& typed) {
    const std::size_t comma = typed.find(',');
    if (comma == std::string::npos || typed.find(',', comma + 1) != std::string::npos)
        throw UserError(fmt::format(
            "compare:{}: give two sides with a comma between them, compare:latest~1,latest",
            typed));
    auto comparison = std::make_shared<Comparison>();
    comparison->a_typed = typed.substr(0, comma);
    comparison->b_typed = typed.substr(comma + 1);
    compare::Arms arms =
        compare::read_arms(registry, store, comparison->a_typed, comparison->b_typed);
    comparison->a = std::move(arms.a);
    comparison->b = std::move(arms.b);
    comparison->note = std::move(arms.note);
    comparison->rows = compare::compare(comparison->a, comparison->b);
    compare::warn_of_circumstances(comparison->rows, comparison->a, comparison->b);
    if (const std::string sentence = compare::nothing_in_common(comparison->rows);
        !sentence.empty())
        comparison->note += (comparison->note.empty() ? "" : "; ") + sentence;
    return comparison;
}

std::vector<ComparedRow> named_rows(const Comparison& comparison) {
    const report::RowNames names = compare::names_of(comparison.rows);
    std::vector<ComparedRow> rows;
    for (const compare::Row& row : comparison.rows) rows.push_back({row, names.of(row.id).text()});
    return rows;
}

std::vector<std::string> differing_suspects(const Comparison& comparison) {
    std::vector<std::string> words;
    for (const auto& [name, before] : comparison.a.suspects) {
        const auto after = comparison.b.suspects.find(name);
        if (after != comparison.b.suspects.end() && after->second != before)
            words.push_back(fmt::format("{}: {} → {}", name, before, after->second));
    }
    return words;
}

}  // namespace assay::gui
