// What the guard is told and decides in virtual time is, seed by seed, what it was when the value
// below was recorded.
#include <gtest/gtest.h>

#include "impls/dr_post_training/campaign/virtual_schedule.hpp"
#include "tests/drive/golden_decisions.hpp"

namespace assay::dr_post_training {
namespace {

TEST(DrCampaign, DecidesWhatItDecided) {
    drive::expect_golden_decisions(
        {1, 500}, "b44cb5b9a8d92965478c1eed1119b2d36cb96c29e6a125e7d5397079054895d9",
        [](std::uint64_t seed) { return drive::decisions_text(virtual_decisions(seed)); });
}

}  // namespace
}  // namespace assay::dr_post_training
