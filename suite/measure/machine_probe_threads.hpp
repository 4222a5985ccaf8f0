// Runs a piece of work on several threads at once and times all of it together.
#pragma once

#include <functional>

namespace assay::measure {

/// Calls round(thread) on every thread again and again until `seconds` have passed; nobody begins
/// before all are there. Returns rounds of all threads together per second, from the common start
/// to the last thread's end.
double rounds_per_second(int threads, double seconds, const std::function<void(int thread)>& round);

}  // namespace assay::measure
