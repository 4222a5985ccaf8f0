// What happened between two moments of a sample, in words. Plain values; no Qt.
#pragma once

#include <string>

#include "suite/report/figures/view_window.hpp"
#include "suite/store/records.hpp"

namespace assay::gui {

/// "throughput 19200 → 14100 (-5100) 1/s; …": of each curve that is drawn the last values up to
/// either end. Then how many events of each kind lie between, the ends included: "5 × detection".
std::string happened_between(const store::Sample&, const report::Range& seconds);

}  // namespace assay::gui
