// What the controller is told and decides in virtual time is, seed by seed, what it was when the
// value below was recorded.
#include <gtest/gtest.h>

#include "impls/hetermoe/campaign/virtual_schedule.hpp"
#include "tests/drive/golden_decisions.hpp"

namespace assay::hetermoe {
namespace {

TEST(HetermoeCampaign, DecidesWhatItDecided) {
    drive::expect_golden_decisions(
        {1, 500}, "6abd7130ed25264f7f7ac53ce82bdf9f0fd8baa1d53e846b8522ac688e2ad2b8",
        [](std::uint64_t seed) { return drive::decisions_text(virtual_decisions(seed)); });
}

}  // namespace
}  // namespace assay::hetermoe
