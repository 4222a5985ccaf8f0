// lazarus/x_operations: every operation that the cost model prices is timed, at the work that it
// counts.
#include <gtest/gtest.h>

#include "impls/lazarus/cost/step_operations.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/layers/x_operations.hpp"
#include "suite/scenario/operation_metrics.hpp"

namespace assay::lazarus {
namespace {

MemoryRecorder run(int width, int sequences) {
    MemoryRecorder recorder;
    time_operations({.width = width, .sequences = sequences, .corpus = ASSAY_TEST_CORPUS},
                    recorder);
    return recorder;
}

TEST(LazarusOperations, AreAllTimedWithTheirWork) {
    const MemoryRecorder small = run(16, 1), large = run(64, 8);
    for (const StepOperation& operation : step_operations()) {
        SCOPED_TRACE(operation.name);
        const Labels labels{{operation_label, std::string(operation.name)}};
        for (const char* metric : {operation_seconds, operation_bytes, operation_kernels})
            EXPECT_GT(small.value(metric, labels), 0) << metric;
        EXPECT_LT(small.value(operation_bytes, labels), large.value(operation_bytes, labels));
    }
    // Of the experts: 2 operations per parameter and row, hidden layer 4 times as wide.
    const Labels experts{{operation_label, std::string("experts")}};
    EXPECT_EQ(small.value(operation_flops, experts), 2.0 * 64 * 8 * 16 * 16);
    EXPECT_EQ(small.value(operation_flops, {{operation_label, std::string("optimizer")}}), 0);
    EXPECT_GT(large.value("backward_over_forward"), 0);
}

TEST(LazarusOperations, DeclareWhatTheyRecord) {
    const Experiment experiment = x_operations();
    for (const auto& metric : run(16, 1).metrics) {
        const MetricSpec* declared = experiment.metric(metric.name);
        ASSERT_NE(declared, nullptr) << metric.name;
        EXPECT_EQ(declared->labels.size(), metric.labels.size());
        for (const auto& [label, value] : metric.labels) EXPECT_EQ(declared->labels.front(), label);
    }
}

}  // namespace
}  // namespace assay::lazarus
