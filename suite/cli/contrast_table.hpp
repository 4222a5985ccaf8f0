// What adaptive rounds came to, as a table and as a line.
#pragma once

#include <span>
#include <string>

#include "suite/runner/contrast.hpp"

namespace assay::cli {

/// Experiment and case, variant, metric, ratio, interval, rounds, verdict.
std::string contrast_table(std::span<const runner::Contrast>);

/// "12 samples saved: …"; empty when none is.
std::string saved_line(long saved);

}  // namespace assay::cli
