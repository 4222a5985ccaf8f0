// What the controller is told and decides in virtual time is, seed by seed, what it was when the
// value below was recorded.
#include <gtest/gtest.h>

#include "impls/hetermoe/campaign/virtual_schedule.hpp"
#include "tests/drive/golden_decisions.hpp"

namespace assay::hetermoe {
namespace {

TEST(HetermoeCampaign, DecidesWhatItDecided) {
    drive::expect_golden_decisions(
        {1, 500}, "faf323ed7f73fdc28d638bfeddb3f8ee0b9d98cc9a50f60fdf87885e7450ac50",
        [](std::uint64_t seed) { return drive::decisions_text(virtual_decisions(seed)); });
}

}  // namespace
}  // namespace assay::hetermoe
