// Everything LTE registers fits together: claims ask experiments for what they have.
#include "impls/lte/register.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::lte {
namespace {

TEST(LteRegister, ClaimsAndExperimentsFit) {
    Registry registry;
    ASSERT_NO_THROW(registry.add(make_system()));
    EXPECT_TRUE(registry.experiment("lte/tab1"));
    EXPECT_TRUE(registry.system("lte")->plan);
}

TEST(LteRegister, EveryExperimentHasAClaimAndASource) {
    const System system = make_system();
    std::set<std::string> claimed;
    for (const Claim& claim : system.claims)
        if (!claim.test.name.empty()) claimed.insert(claim.experiment);
    // Files of one user's are no evidence for a claim: theirs say so.
    const std::set<std::string> of_the_user{"lte/fig5", "lte/fig7", "lte/fig14"};
    for (const Experiment& experiment : system.experiments) {
        EXPECT_NE(claimed.count(experiment.id), of_the_user.count(experiment.id)) << experiment.id;
        EXPECT_EQ(experiment.source.rfind("arXiv 2402.06126v4, ", 0), 0u) << experiment.id;
    }
}

TEST(LteRegister, EveryCustomCheckIsAskedFor) {
    const System system = make_system();
    std::set<std::string> asked;
    for (const Claim& claim : system.claims)
        if (claim.test.custom()) asked.insert(claim.test.name.substr(7));
    for (const auto& [name, check] : system.custom_checks) EXPECT_TRUE(asked.count(name)) << name;
}

}  // namespace
}  // namespace assay::lte
