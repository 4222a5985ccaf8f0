// Everything HeterMoE registers fits together: claims ask experiments for what they have.
#include "impls/hetermoe/register.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

namespace assay::hetermoe {
namespace {

class HetermoeRegister : public ::testing::Test {
  protected:
    HetermoeRegister() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }
};

TEST_F(HetermoeRegister, ClaimsAndExperimentsFit) {
    Registry registry;
    ASSERT_NO_THROW(registry.add(make_system()));
    EXPECT_TRUE(registry.experiment("hetermoe/fig6"));
    EXPECT_TRUE(registry.system("hetermoe")->plan);
}

TEST_F(HetermoeRegister, EveryExperimentOfThePaperAnswersAClaim) {
    const System system = make_system();
    std::set<std::string> claimed;
    for (const Claim& claim : system.claims)
        if (!claim.test.empty()) claimed.insert(claim.experiment);
    for (const Experiment& experiment : system.experiments) {
        // Of Table 1 everything is a setting; the x_ ones ask what the paper does not.
        const bool of_the_paper = experiment.source.rfind("arXiv 2504.03871v1, ", 0) == 0;
        if (of_the_paper && experiment.id != "hetermoe/tab1") {
            EXPECT_TRUE(claimed.count(experiment.id)) << experiment.id;
        }
        EXPECT_TRUE(of_the_paper || experiment.source.rfind("our own; ", 0) == 0);
    }
}

TEST_F(HetermoeRegister, EveryClaimHasItsPlaceInThePaper) {
    for (const Claim& claim : make_system().claims)
        EXPECT_EQ(claim.source.rfind("arXiv 2504.03871v1, ", 0), 0u) << claim.id;
}

}  // namespace
}  // namespace assay::hetermoe
