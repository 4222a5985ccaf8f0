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
        {1, 500}, "362c69fd6c7a1b824a56e5f92088940e1ac06f62a13c9afd53796dffdc7d12c8",
        [](std::uint64_t seed) {
            VirtualRun run(draw_schedule(seed));
            run.run();
            return drive::decisions_text(run.record()) + run.failure();
        });
}

}  // namespace
}  // namespace assay::lazarus::campaign
