// Google Benchmark's JSON as a session of samples.
#pragma once

#include <string>
#include <string_view>

#include "suite/exchange/row.hpp"

namespace assay::exchange {

/// Each repetition is a sample of the experiment "benchmark/NAME" (profile small, provenance
/// measured), its round counts the repetitions of that name; metrics real_time and cpu_time in
/// seconds, and every counter, as GoogleBenchmarkFile reads them; aggregates are left out, errors
/// are failed samples. The machine is described by the file's context: processors, caches, and the
/// build of the library. The session's id follows from the text, so that the same file gives the
/// same ids. UserError with `source`, line and column for malformed text, or a sentence for another
/// JSON.
void read_benchmark_results(std::string_view text, const std::string& source, const RowSink& sink);

}  // namespace assay::exchange
