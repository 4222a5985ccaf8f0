// Labels cut to a width that can still be told apart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::report {

/// Each label at most `columns` wide, and two of them equal only where the labels are. What is
/// longer loses its middle (shortened()); those that would look alike then lose what they share
/// instead: fields, "BM_mat…/rows:64/…", else letters before and behind what tells them apart.
/// Where that does not do, they are broken into lines of `columns`, and lose nothing.
std::vector<std::string> shortened_apart(const std::vector<std::string>& labels,
                                         std::size_t columns);

}  // namespace assay::report
