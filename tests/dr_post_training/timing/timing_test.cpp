// Memory is what the closed forms say; the rest is there and adds up. No absolute times.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "impls/dr_post_training/timing/memory_watch.hpp"
#include "impls/dr_post_training/timing/scoring_timing.hpp"
#include "impls/dr_post_training/timing/step_timing.hpp"

namespace assay::dr_post_training {
namespace {

const bool one_thread = (at::set_num_threads(1), true);

TEST(MemoryWatching, CountsWhatIsThereAtATime) {
    const MemoryWatch watch;
    {
        const auto a = at::empty({1000}, at::kFloat);
        EXPECT_GE(watch.live_bytes(), 4000);
        { const auto b = at::empty({2000}, at::kFloat); }
    }
    EXPECT_GE(watch.peak_bytes(), 12000);
    EXPECT_LT(watch.peak_bytes(), 13000);
    EXPECT_EQ(watch.live_bytes(), 0);
}

TEST(ScoringMemory, IsTheClosedFormsWithinFivePercent) {
    for (const Scoring scoring : scorings)
        for (const auto& [outputs, inputs, m] :
             {std::array<std::int64_t, 3>{128, 128, 1}, {96, 256, 2}, {256, 96, 1}}) {
            ScoringCase c{.outputs = outputs, .inputs = inputs, .m = m, .tokens = 64, .repeats = 1};
            const auto measured = measure_scoring(scoring, c);
            CostSettings settings;
            settings.m = static_cast<double>(m);
            settings.tokens = 64;
            const auto costs = scoring_costs(
                {{static_cast<double>(outputs), static_cast<double>(inputs), 1}}, settings);
            const double formula = 4 * costs.elements[static_cast<std::size_t>(scoring)];
            EXPECT_NEAR(static_cast<double>(measured.peak_bytes) / formula, 1, 0.05)
                << to_string(scoring) << " " << outputs << "x" << inputs << " m " << m;
            EXPECT_GT(measured.over_products, 0);
        }
}

TEST(StepTiming, MeasuresEveryArmAndPhase) {
    StepCase c;
    c.model.layers = 2;
    c.model.width = 32;
    c.model.hidden = 64;
    c.model.heads = c.model.kv_heads = 2;
    c.model.head_width = 16;
    c.n = 4;
    c.k = 2;
    c.tokens = 16;
    c.rounds = 2;
    const auto measured = measure_steps(c);
    for (const char* arm : {"standard", "layer", "global_one_pass", "global_two_pass"}) {
        EXPECT_GT(measured.seconds.at(arm), 0) << arm;
        EXPECT_GT(measured.peak_bytes.at(arm), 0) << arm;
    }
    const auto& phases = measured.phases;
    for (const char* phase : {"forward", "optimiser", "scoring", "chosen_gradient"})
        EXPECT_GT(phases.at(phase), 0) << phase;
    EXPECT_GT(measured.one_pass_over_two, 0);
    // Target rows run along; what one pass keeps until the end, choosing per map does not keep.
    EXPECT_GT(measured.peak_bytes.at("layer"), measured.peak_bytes.at("standard"));
    EXPECT_GE(measured.peak_bytes.at("global_one_pass"), measured.peak_bytes.at("layer"));
    EXPECT_GT(measured.floor_over_standard, 0);
}

// Of a single round the ratios follow from its seconds, whatever the machine does beside.
TEST(StepTiming, RatiosAndFloorAreThoseOfTheRound) {
    StepCase c;
    c.model.layers = 2;
    c.model.width = 32;
    c.model.hidden = 64;
    c.model.heads = c.model.kv_heads = 2;
    c.model.head_width = 16;
    c.n = 4;
    c.k = 1;
    c.m = 2;
    c.tokens = 16;
    c.rounds = 1;
    const auto measured = measure_steps(c);
    const auto& seconds = measured.seconds;
    const double standard = seconds.at("standard");
    for (const auto& [arm, over] : measured.over_standard)
        EXPECT_DOUBLE_EQ(over, seconds.at(arm) / standard) << arm;
    EXPECT_DOUBLE_EQ(measured.one_pass_over_two,
                     seconds.at("global_one_pass") / seconds.at("global_two_pass"));
    // Target rows go there and back, and need no weight gradient; of general rows the chosen do.
    const auto& phases = measured.phases;
    const double there_and_back = phases.at("forward") + phases.at("backward");
    const double weights = phases.at("weight_gradient");
    const double floor = standard + 0.5 * (there_and_back - weights - phases.at("head_gradient")) -
                         0.75 * weights + phases.at("scoring");
    EXPECT_NEAR(measured.floor_over_standard, floor / standard, 1e-9);
    EXPECT_NEAR(measured.layer_over_floor, seconds.at("layer") / floor, 1e-9);
}

// As a GPU stores and computes, here on the CPU.
TEST(StepTiming, RunsInBf16) {
    StepCase c;
    c.model.layers = 1;
    c.model.width = 32;
    c.model.hidden = 64;
    c.model.heads = c.model.kv_heads = 2;
    c.model.head_width = 16;
    c.n = 4;
    c.k = 2;
    c.tokens = 8;
    c.rounds = 1;
    c.compute = c.stored = at::kBFloat16;
    for (const Scoring scoring : scorings) {
        c.scoring = scoring;
        EXPECT_GT(measure_steps(c).seconds.at("layer"), 0) << to_string(scoring);
    }
    ScoringCase map{.outputs = 128, .inputs = 256, .tokens = 64, .repeats = 1};
    map.type = at::kBFloat16;
    for (const Scoring scoring : scorings)
        EXPECT_GT(measure_scoring(scoring, map).seconds, 0) << to_string(scoring);
}

}  // namespace
}  // namespace assay::dr_post_training
