// What a figure of lines or bars shows, as text for the terminal.
#pragma once

#include <cstddef>
#include <string>

#include "suite/report/figure_data.hpp"

namespace assay::report {

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
