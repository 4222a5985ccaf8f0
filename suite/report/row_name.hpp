// What reports call a row: as its series and metric are, but where that would be a command line.
#pragma once

#include <string>

#include "suite/store/history.hpp"

namespace assay::report {

struct RowName {
    std::string series;
    std::string metric;  ///< empty where `series` says it all

    std::string text() const;  ///< "lte/fig8 lte sparsity=0.5 · seconds"
};

/// `series` and `metric`: their whole texts, "lte/fig8 lte sparsity=0.5" and "seconds step=3". What
/// a suite's benchmark measured, of which the series has the arguments and the metric the name, is
/// "benchmark/gemv gemv/cpu/avx2".
RowName row_name(const std::string& series, const std::string& metric);
RowName row_name(const store::SeriesKey& series, const store::MetricKey& metric);

/// The whole text, "lte/fig8 lte sparsity=0.5".
std::string series_text(const store::SeriesKey& series);

}  // namespace assay::report
