// Two real processes exchange rows over Gloo.
#include "impls/hetermoe/emulated/paced_pair.hpp"

#include <gtest/gtest.h>

#include "tests/hetermoe/policy/profiles.hpp"

namespace assay::hetermoe {
namespace {

TEST(HetermoePacedPair, GivesEveryRowBackAndKeepsTheOrder) {
    TrainingProfile profile = fig6_profile();
    for (Nanoseconds* time :
         {&*profile.new_kind.attention, &profile.new_kind.expert, &profile.old_kind.expert})
        *time *= 20'000;  // an expert task: 20 ms
    const PacedPass pass =
        run_paced_pair({.profile = profile, .offload = {0, 1, 1}, .micro_batches = 3});
    EXPECT_EQ(pass.difference, 0);
    // Two layers' X; A of four stages; E of three layers; dispatch and combine on both sides.
    EXPECT_EQ(pass.tasks.size(), 3u * (2 + 4 + 3 + 2 * 6));
    EXPECT_GE(pass.tasks.back().end_s, 8.75 * 0.02 - 0.002);
}

}  // namespace
}  // namespace assay::hetermoe
