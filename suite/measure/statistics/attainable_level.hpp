// What level an interval made of ranks can promise when even its widest choice covers little.
#pragma once

#include <optional>

namespace assay::statistics {

/// `level` where the widest interval covers as much; its own `widest_coverage` where that misses at
/// most 1.4 times as often as asked (93 % for 95 %); else nullopt: no interval at this level.
/// std::invalid_argument: a level outside (0, 1).
std::optional<double> attainable_level(double level, double widest_coverage);

}  // namespace assay::statistics
