// The results of an experiment as tables: all metrics, or what its figure shows.
#pragma once

#include <cstddef>
#include <string>

#include "suite/report/figures/figure_data.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {

/// Results as cells: a row per case and variant, a column per metric; the values of the figure's
/// metric get one column per x when x is a label. Medians over samples; "median (min–max)" when
/// they differ. Axes with a single value are left out; several machines, and calibrations or data
/// that are not comparable, have rows of their own.
Grid result_table(const Experiment&, std::span<const store::Sample>);

struct FigureTables {
    std::string text;
    std::size_t left_out = 0;  ///< panels that were too many
};

/// Per panel a table, with a row per x and a column per variant that was run; panels stand beside
/// each other within `width` columns. Where every panel has but one x, or x is the variant, all of
/// them are rows of one table. Panels that would make more than `most_lines` lines are left out;
/// the first ones never are.
FigureTables figure_tables(const Experiment&, const FigureData&, std::size_t width,
                           std::size_t most_lines);

}  // namespace assay::report
