// Which trends a command means, out of all that a database holds.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/report/trend/trend.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {

/// As typed; what is empty narrows nothing.
struct HistorySelection {
    std::string pattern;  ///< as of Registry::select(), an id only the store knows, or row names
    std::vector<std::string> metrics;  ///< "seconds", "loss{step=10}"
    std::vector<std::string> variants;
    std::vector<std::string> axes;  ///< "nodes=10,16"
    std::string profile, provenance;
    std::string machine;  ///< the beginning of a fingerprint
    std::string since;    ///< ISO 8601
    int last = 0;         ///< newest sessions; 0: all
};

/// At least one, each with at least one session, and whether it ended. UserError: a word that does
/// not read, nothing matches, a machine that several begin as (the text says what there is).
std::vector<report::Trend> selected_trends(const Registry&, const store::Store&,
                                           const HistorySelection&, const report::TrendOptions&);

}  // namespace assay::cli
