// Layer or step numbers in front of the loads of a file: a column of them would be planned for as
// an expert. Pure; loads_file.hpp reads the file.
#pragma once

#include <cstddef>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

enum class ColumnKind {
    loads,
    doubtful,  ///< may be numbers of layers or steps, may be loads
    index,     ///< numbers of layers or steps
};

/// What one of the first two columns holds. `lines` are of equal length.
///
/// An index rises or falls from line to line, perhaps again and again from its start (0 1 2 0 1 2).
/// It is one on three lines or more where it rises by the same step (the second column: beside much
/// larger loads), or falls so beside much larger loads; by any steps where two of these hold: it
/// has six lines or more; the loads are much larger; without it the lines' sums lie less than half
/// as far apart. Begun anew, it goes by ones, or has three lines and more each time. On two lines
/// it is 0 1, 1 2 or their reverse beside much larger loads. With less of that it is doubtful, and
/// so is a small number that all lines begin with.
///
/// Loads it is where the lines' sums are equal, or lie less than half as far apart with the column
/// as without it, since each layer routes about the same tokens; and where every column does the
/// same.
ColumnKind kind_of_column(const std::vector<Loads>& lines, std::size_t column);

}  // namespace assay::lazarus
