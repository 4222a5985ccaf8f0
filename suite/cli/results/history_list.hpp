// Trends as a list, of which a person picks one.
#pragma once

#include <string>
#include <vector>

#include "suite/report/trend/trend.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {

/// One line each: how many sessions, the newest value, the changes, whether it ended. Names the
/// machine where there are several.
std::string trend_list(const store::Store&, const std::vector<report::Trend>&, std::size_t columns);

}  // namespace assay::cli
