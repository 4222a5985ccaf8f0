// Samples for people: a short block per experiment, with what its figure shows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"
#include "suite/store/records.hpp"

namespace assay::cli {

struct ResultsLook {
    bool all_metrics = false;  ///< every metric of every case instead of what the figure shows
    std::size_t columns = 80;  ///< of the terminal; text_columns()
    /// Of experiments that the registry does not know.
    std::vector<const Experiment*> others{};
};

/// Per experiment, provenance and profile: a table with a row per x of the figure and a column per
/// variant, one per panel (without such a figure, or with all_metrics, a row per case and a column
/// per metric), shortened where it is long; how many samples ended how, and why those that are not
/// ok did not; the commands that show the rest and draw the picture.
std::string results_text(const Registry&, std::span<const store::Sample>,
                         std::span<const ClaimCheck>, const ResultsLook&);

/// "1 sample", "2 samples".
std::string counted(std::size_t count, std::string_view what);

}  // namespace assay::cli
