// Steps as a controller has them made, whose GPUs change pace.
#include "impls/hetermoe/emulated/controlled_steps.hpp"

#include <gtest/gtest.h>

#include "impls/hetermoe/policy/controller/controller.hpp"

namespace assay::hetermoe {
namespace {

const ControllerSettings settings{
    .layers = 6,
    .experts = 8,
    .group = {2, 2},
    .micro_batches = 3,
    .squeeze = true,
    .times = {.attention = 700'000'000, .old_expert = 1'000'000'000, .new_expert = 800'000'000},
    .steps = 8};

// One GPU of a kind is `factor` times as slow from step `from` on.
std::vector<PacedStep> slowed(int rank, double factor, std::size_t from) {
    return controlled_steps(settings, [&](const Layout& layout, std::size_t number) {
        PacedStep step{.layout = layout, .experts = 8};
        step.ranks.assign(2, {.attention = 0.7, .expert = 0.8, .head = 0.1});
        step.ranks.resize(4, {.expert = 1});
        if (number < from) return step;
        GpuSeconds& slow = step.ranks[static_cast<std::size_t>(rank)];
        for (double* part : {&slow.attention, &slow.expert, &slow.head}) *part *= factor;
        return step;
    });
}

// As layout_for() has it where all of the kind are so slow.
Layout planned(double new_factor, double old_factor) {
    ControllerSettings slow = settings;
    const auto times = [](Nanoseconds& seconds, double factor) {
        seconds = std::llround(static_cast<double>(seconds) * factor);
    };
    times(slow.times.attention, new_factor);
    times(slow.times.new_expert, new_factor);
    times(slow.times.old_expert, old_factor);
    return layout_for(slow, {0, 1}, {2, 3}).value();
}

TEST(HetermoeControlledSteps, FollowASlowStepByAPlanOneStepLater) {
    for (const auto& [rank, of_new, of_old] :
         {std::tuple{3, 1.0, 2.0}, {2, 1.0, 1.5}, {1, 4.0, 1.0}, {0, 1.5, 1.0}}) {
        const Layout before = planned(1, 1), after = planned(of_new, of_old);
        ASSERT_NE(before.offload, after.offload);
        const auto steps = slowed(rank, of_new * of_old, 3);
        ASSERT_EQ(steps.size(), 8u);
        for (std::size_t i = 0; i < steps.size(); ++i)
            EXPECT_EQ(steps[i].layout.offload, (i < 5 ? before : after).offload) << i;
        EXPECT_EQ(steps.back().layout.ranks, (std::vector<Worker>{0, 1, 2, 3}));
    }
}

TEST(HetermoeControlledSteps, StayWhereNothingChangesMuch) {
    for (const auto& steps : {slowed(3, 1, 0), slowed(3, 1.2, 3), slowed(1, 1 / 1.2, 3)})
        for (const PacedStep& step : steps) EXPECT_EQ(step.layout.offload, planned(1, 1).offload);
}

}  // namespace
}  // namespace assay::hetermoe
