// What may be wrong with a sample of numbers: outliers, two heaps instead of one.
#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

enum class Outlier { none, mild, severe };
/// Tukey's fences: mild beyond 1.5, severe beyond 3 interquartile ranges from the quartiles. Fewer
/// than five values: none is marked. Marked values are shown, never dropped.
std::vector<Outlier> outliers(std::span<const double> values);

/// Two clusters, for example of processes that got two kinds of memory placement: what makes
/// run-to-run gates cry wolf (papers: 22.5 against 25.5 ms at 0.05 ms spread within).
struct Bimodality {
    bool bimodal = false;
    double separation = 0;     ///< Ashman's D of the best split in two; infinite without any spread
                               ///< within the two
    double dip_p = 1;          ///< of Hartigan's dip test against one mode
    double low = 0, high = 0;  ///< medians of the two clusters
    double share_high = 0;     ///< of values in the upper cluster
};
/// Two clusters are claimed only when the dip test rejects one mode, both hold enough values and
/// they stand well apart; fewer than ten values: never. std::invalid_argument: values that are
/// not finite.
Bimodality bimodality(std::span<const double> values);

}  // namespace assay::statistics
