// Measured durations of named operations, read from stored samples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/scenario/operation_fit.hpp"
#include "suite/scenario/operation_metrics.hpp"
#include "suite/store/store.hpp"

namespace assay::cli {

/// Which metrics of an experiment say what: those of record_operation(), or others that are named.
struct OperationMetrics {
    std::string seconds = operation_seconds;
    std::string flops = operation_flops, bytes = operation_bytes, kernels = operation_kernels;
    std::string operation;  ///< of metrics without that label
};

struct OperationSamples {
    std::map<std::string, std::vector<TimedWork>> timed;  ///< by operation
    std::vector<std::string> sessions;                    ///< ids
    std::string host;                                     ///< the machine's name; may be empty
};

/// Of the measured samples with status ok: those of `session` (a whole id), or if empty the newest
/// of each case. Metrics are put together by their labels; work that no metric tells is 0. Throws
/// UserError where there are none, or of several machines, or of several variants (`variant`
/// chooses), where an operation has no name, and for a metric that was named and is not there.
OperationSamples operation_samples(const store::Store& store, const std::string& experiment,
                                   const std::string& session, const std::string& variant,
                                   const OperationMetrics& metrics);

}  // namespace assay::cli
