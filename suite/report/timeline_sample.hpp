// What timelines read out of one sample.
#pragma once

#include <string>
#include <string_view>

#include "suite/store/records.hpp"

namespace assay::report {

/// Time of the last event or value in s; without any, how long the sample took, at least 1 s.
double end_of(const store::Sample&);

/// The series of that name; null where there is none with as many times as values, at least one.
const store::TimeSeries* series_of(const store::Sample&, std::string_view name);

/// Seconds that an event lasted: its detail's "seconds"; 0 where it does not say.
double lasted(const store::Event&);

/// Why: its detail's "reason", as words ("no replica left"); empty where it does not say.
std::string reason_of(const store::Event&);

}  // namespace assay::report
