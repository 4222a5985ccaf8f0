// A trend in the terminal: marks for sessions, uprights for change points, and what they say.
#pragma once

#include <cstddef>
#include <string>

#include "suite/report/trend.hpp"

namespace assay::cli {

struct TrendLook {
    std::size_t columns = 80;  ///< at least 40 are used
    bool colours = false;      ///< green: better, red: worse; never how sure that is
};

/// The chart, its change points with the suspects that differ there, and the newest verdict.
std::string draw_trend(const report::Trend&, const statistics::HistoryOptions&, const TrendLook&);

}  // namespace assay::cli
