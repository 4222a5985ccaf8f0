// Everything HeterMoE registers fits together: claims ask experiments for what they have.
#include "impls/hetermoe/register.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "impls/hetermoe/experiments/experiments.hpp"

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
        if (!claim.test.name.empty()) claimed.insert(claim.experiment);
    for (const Experiment& experiment : system.experiments) {
        // Of Table 1 everything is a setting; the x_ ones ask what the paper does not.
        const bool of_the_paper = experiment.source.rfind("arXiv 2504.03871v1, ", 0) == 0;
        if (of_the_paper && experiment.id != "hetermoe/tab1") {
            EXPECT_TRUE(claimed.count(experiment.id)) << experiment.id;
        }
        EXPECT_TRUE(of_the_paper || experiment.source.rfind("our own; ", 0) == 0);
    }
}

// A part of the cluster at few points; simulated samples are as they were, without that axis.
TEST_F(HetermoeRegister, EmulatedFiguresAskForLess) {
    for (const Experiment& experiment : {fig7(), fig10(), fig12(), tab3()}) {
        const ProfilePlan* toy = experiment.plan(Profile::toy);
        EXPECT_TRUE(unnamed_value(*experiment.axis("part"), toy->of(Provenance::simulated)));
        EXPECT_EQ(toy->of(Provenance::emulated).axes.at("part").size(), 1u) << experiment.id;
        EXPECT_EQ(toy->of(Provenance::emulated).axes.at("calibration").size(), 1u);
        SampleSpec spec;
        spec.provenance = Provenance::simulated;
        spec.variant = "balance";
        EXPECT_FALSE(experiment.unsupported(spec));
        spec.provenance = Provenance::emulated;
        EXPECT_EQ(experiment.unsupported(spec), "balance is simulated only");
    }
    const Experiment experiment = fig7();
    SampleSpec spec;
    spec.variant = "hetermoe";
    spec.axes = {{"panel", "d2-o3"},
                 {"calibration", "sheet"},
                 {"batch", std::int64_t{4}},
                 {"sequence", std::int64_t{8}},
                 {"part", std::int64_t{3}}};
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.axes["part"] = std::int64_t{2};  // three V100 are no two parts
    EXPECT_THROW(experiment.validate(spec), UserError);
    spec.axes["part"] = std::int64_t{3};
    spec.provenance = Provenance::simulated;
    EXPECT_THROW(experiment.validate(spec), UserError);
}

// Claims count declared values alone: cases with flows would count those of the figure twice.
TEST_F(HetermoeRegister, FlowsAreAskedForAndNotDeclared) {
    const Experiment experiment = fig7();
    EXPECT_EQ(experiment.axis("network")->values.size(), 1u);
    SampleSpec spec;
    spec.provenance = Provenance::simulated;
    spec.variant = "hetermoe";
    spec.axes = {{"panel", "d1-o1"},
                 {"calibration", "sheet"},
                 {"batch", std::int64_t{4}},
                 {"sequence", std::int64_t{8}},
                 {"network", "flows"}};
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.axes["network"] = std::string("flow");
    EXPECT_THROW(experiment.validate(spec), UserError);
    spec.axes["network"] = std::string("timeline");
    EXPECT_NO_THROW(experiment.validate(spec));
    spec.axes["calibration"] = std::string("guessed");
    EXPECT_THROW(experiment.validate(spec), UserError);
    spec.axes["calibration"] = std::string("sheet");
    spec.variant = "x";
    EXPECT_THROW(experiment.validate(spec), UserError);
}

// Or says that it is ours: of how emulated samples come out, or what the paper does not ask.
TEST_F(HetermoeRegister, EveryClaimHasItsPlaceInThePaper) {
    for (const Claim& claim : make_system().claims) {
        const bool ours = claim.source.rfind("our own; ", 0) == 0;
        EXPECT_TRUE(ours || claim.source.rfind("arXiv 2504.03871v1, ", 0) == 0) << claim.id;
        EXPECT_EQ(ours, claim.kind == ClaimKind::ours) << claim.id;
        if (ours) {
            const std::string& by = claim.checkable.at("toy");
            EXPECT_EQ(by, "emulated") << claim.id;
        }
    }
}

}  // namespace
}  // namespace assay::hetermoe
