// What the experiment records of drawn gradients.
#include <gtest/gtest.h>

#include <map>

#include "impls/dr_post_training/experiments/drawn_gradients.hpp"
#include "impls/dr_post_training/experiments/experiments.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

SampleSpec spec(const std::string& variant, double common, std::int64_t m) {
    SampleSpec spec;
    spec.experiment = "dr_post_training/x_projection";
    spec.variant = variant;
    spec.axes = {{"common", common}, {"width", std::int64_t{16}}, {"m", m}};
    return spec;
}

std::map<std::string, double> metrics(const SampleSpec& at) {
    MemoryRecorder recorder;
    x_projection().run(at, recorder);
    std::map<std::string, double> found;
    for (const auto& metric : recorder.metrics) found[metric.name] = metric.value;
    return found;
}

TEST(DrProjection, TopkIsNoProjection) {
    for (const std::int64_t m : {1, 16}) {
        const auto topk = metrics(spec("topk", 0.3, m)), greedy = metrics(spec("greedy", 0.3, m));
        EXPECT_LT(topk.at("nearest"), 0.9);
        EXPECT_GT(topk.at("nearest"), 0);
        EXPECT_GT(topk.at("excess_distance2"), 0);
        EXPECT_GT(greedy.at("nearest"), topk.at("nearest"));
        EXPECT_LT(greedy.at("excess_distance2"), topk.at("excess_distance2"));
        EXPECT_EQ(topk.at("cosine_of_nearest"), greedy.at("cosine_of_nearest"));
    }
}

TEST(DrProjection, ASeedIsADraw) {
    EXPECT_EQ(metrics(spec("topk", 1, 1)), metrics(spec("topk", 1, 1)));
    EXPECT_EQ(draw_gradients({}, 3).gradients, draw_gradients({}, 3).gradients);
    EXPECT_NE(draw_gradients({}, 3).gradients, draw_gradients({}, 4).gradients);
    // A row is about 1 long, and twice as long squared with as long a shared direction.
    double plain = 0, shared = 0;
    const DrawnGradients one = draw_gradients({.rows = 400, .width = 64}, 1),
                         other = draw_gradients({.rows = 400, .width = 64, .common = 1}, 1);
    for (std::size_t b = 0; b < 400; ++b) {
        plain += dot(one.gradients.row(b), one.gradients.row(b)) / 400;
        shared += dot(other.gradients.row(b), other.gradients.row(b)) / 400;
    }
    EXPECT_NEAR(plain, 1, 0.05);
    EXPECT_NEAR(shared, 2, 0.5);
}

TEST(DrProjection, RefusesWhatCannotBeDrawn) {
    EXPECT_THROW(x_projection().validate(spec("topk", -1, 1)), UserError);
    EXPECT_THROW(x_projection().validate(spec("topk", 1, 0)), UserError);
}

}  // namespace
}  // namespace assay::dr_post_training
