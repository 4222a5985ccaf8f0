// What the controller is told and decides in virtual time is, seed by seed, what it was when the
// value below was recorded.
#include <gtest/gtest.h>

#include "impls/lazarus/campaign/virtual_run.hpp"
#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "tests/drive/golden_decisions.hpp"

namespace assay::lazarus::campaign {
namespace {

TEST(LazarusCampaign, DecidesWhatItDecided) {
    drive::expect_golden_decisions(
        {1, 500}, "896767ad48baa1245b1f93b3a64c065047a0af61342abd2dde422d6474cbcb22",
        [](std::uint64_t seed) {
            VirtualRun run(draw_schedule(seed));
            run.run();
            return drive::decisions_text(run.record()) + run.failure();
        });
}

}  // namespace
}  // namespace assay::lazarus::campaign
