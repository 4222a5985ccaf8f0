// What the controller is told and decides in virtual time is, seed by seed, what it was when the
// value below was recorded.
#include <gtest/gtest.h>

#include "impls/hetermoe/campaign/virtual_schedule.hpp"
#include "tests/drive/golden_decisions.hpp"

namespace assay::hetermoe {
namespace {

TEST(HetermoeCampaign, DecidesWhatItDecided) {
    drive::expect_golden_decisions(
        {1, 500}, "f27a63d0ab49cbb2551a3370c47569e469ac8d09725aba8108c1610eae4db397",
        [](std::uint64_t seed) { return drive::decisions_text(virtual_decisions(seed)); });
}

}  // namespace
}  // namespace assay::hetermoe
