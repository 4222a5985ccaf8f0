// Comparisons as people read them: what was compared, a row per series and why; and what adaptive
// rounds came to.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/runner/adaptive/contrast.hpp"

namespace assay::report {

/// A row with the number under which --explain finds it, from 1.
struct NumberedRow {
    std::size_t number = 0;
    const compare::Row* row = nullptr;
};

struct TableLook {
    std::size_t columns = 100;  ///< what is longer is shortened in the middle, or broken
    bool colours = false;       ///< green: faster, red: slower; never how sure that is
};

/// Both sides, the suspects that differ between them, margin and level.
std::string comparison_header(const compare::Arm& a, const compare::Arm& b,
                              const compare::Options&);

/// One table per experiment, per case where that is long; axes that all its rows share stand in its
/// heading. A verdict that a warning belongs to is marked: "faster (!)".
std::string comparison_table(std::span<const NumberedRow>, const TableLook&);

/// The reasons of all rows but those that are the same, equal ones told once. "" when there are
/// none.
std::string comparison_reasons(std::span<const NumberedRow>, const TableLook&);

/// The warnings of the rows, equal ones told once. "" when there are none.
std::string comparison_warnings(std::span<const NumberedRow>, const TableLook&);

/// "commit 12ab → 34cd": what both sides know and differ in, a line each.
std::vector<std::string> differing_suspects(const compare::Arm& a, const compare::Arm& b);

/// A table in `columns` per experiment, the axes that all its contrasts share in its heading: case,
/// variant, metric, ratio, interval, rounds, verdict.
std::string contrast_table(std::span<const runner::Contrast>, std::size_t columns);

/// "12 samples saved: …"; empty when none is.
std::string saved_line(long saved);

}  // namespace assay::report
