#include "suite/scenario/operation_metrics.hpp"

#include <string>

namespace assay {

std::vector<MetricSpec> operation_metrics() {
    const auto metric = [](const char* name, const char* unit, const char* says, Direction better) {
        return MetricSpec{name, unit, says, better, false, {operation_label}, {}};
    };
    return {
        metric(operation_seconds, "s", "time of the operation, median", Direction::lower),
        metric(operation_flops, "FLOP", "of it, as the cost model counts them", Direction::none),
        metric(operation_bytes, "byte", "to and from memory, as the cost model counts them",
               Direction::none),
        metric(operation_kernels, "count", "launches, as the cost model counts them",
               Direction::none),
    };
}

void record_operation(Recorder& recorder, const Operation& operation, double seconds) {
    const Labels labels{{operation_label, std::string(operation.name)}};
    recorder.metric(operation_seconds, seconds, labels);
    recorder.metric(operation_flops, operation.work.flops, labels);
    recorder.metric(operation_bytes, operation.work.bytes, labels);
    recorder.metric(operation_kernels, operation.work.kernels, labels);
}

}  // namespace assay
