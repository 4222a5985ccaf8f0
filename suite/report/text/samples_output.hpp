// Samples for other programs: CSV and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "suite/experiment/system.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// One row per metric value:
/// session,experiment,variant,case…,profile,provenance,scenario,seed,round,status,metric,
/// labels,unit,value,sample,started,better. `scenario` is the fault plan's text, empty without
/// faults. A sample without metrics still has one row, so that its status shows. RFC 4180 quoting;
/// values round-trip. `case…`: one column per axis, in name order. `better`: higher, lower or
/// empty. `units`: of metrics that the registry does not know.
std::string csv(const Registry&, std::span<const store::Sample>,
                std::span<const store::MetricUnit> units = {});

/// The "samples" array of `assay run --json`: keys may be added, never changed. Values that are not
/// finite become null.
nlohmann::json samples_json(std::span<const store::Sample>);

}  // namespace assay::report
