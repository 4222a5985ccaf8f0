// lazarus/fig10a, measured: the layer is computed whatever the rule, and padding takes time.
#include <gtest/gtest.h>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/layers/skewed_layer.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

// Two ranks, four experts each; the hot one gets `hot` of the 64 rows of a rank.
SkewedLayer layer(DispatchRule rule, int hot) {
    SkewedLayer layer;
    layer.width = 128;
    layer.rule = rule;
    layer.holders = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    layer.choices.resize(2);
    for (auto& choices : layer.choices)
        for (int row = 0; row < 64; ++row) choices.push_back(row < hot ? 7 : row % 7);
    return layer;
}

TEST(Fig10aMeasured, PaddingTakesTime) {
    const auto padded = DispatchRule::padded_in(2);
    MemoryRecorder skewed, same;
    compute_layers(layer(padded, 8), layer(padded, 64), skewed);
    compute_layers(layer(padded, 8), layer(padded, 8), same);
    // Eight times the rows of the even layer, which takes much longer whatever else runs here.
    EXPECT_LT(skewed.value("relative_throughput"), 0.6 * same.value("relative_throughput"));
    for (const char* name : {"layer_s", "experts_s", "tokens_per_s"})
        EXPECT_GT(skewed.value(name), 0) << name;
    const Experiment experiment = fig10a();
    for (const auto& metric : skewed.metrics)
        EXPECT_NE(experiment.metric(metric.name), nullptr) << metric.name;
}

}  // namespace
}  // namespace assay::lazarus
