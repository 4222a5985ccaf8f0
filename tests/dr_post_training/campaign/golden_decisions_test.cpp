// What the guard is told and decides in virtual time is, seed by seed, what it was when the value
// below was recorded.
#include <gtest/gtest.h>

#include "impls/dr_post_training/campaign/virtual_schedule.hpp"
#include "tests/drive/golden_decisions.hpp"

namespace assay::dr_post_training {
namespace {

TEST(DrCampaign, DecidesWhatItDecided) {
    drive::expect_golden_decisions(
        {1, 500}, "9b56200492fd2e819b0816793db88d480591f7f9496835d4a7425c605d05326e",
        [](std::uint64_t seed) { return drive::decisions_text(virtual_decisions(seed)); });
}

}  // namespace
}  // namespace assay::dr_post_training
