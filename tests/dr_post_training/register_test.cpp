// Everything Dr. Post-Training registers fits together: claims ask experiments for what they have.
#include "impls/dr_post_training/register.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

class DrRegister : public ::testing::Test {
  protected:
    DrRegister() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }
};

TEST_F(DrRegister, ClaimsAndExperimentsFit) {
    Registry registry;
    ASSERT_NO_THROW(registry.add(make_system()));
    EXPECT_TRUE(registry.experiment("dr_post_training/crossovers"));
    EXPECT_TRUE(registry.system("dr_post_training")->plan);
    EXPECT_TRUE(registry.system("dr_post_training")->campaign);
}

TEST_F(DrRegister, EveryClaimSaysHowItIsAnsweredOrWhyNot) {
    for (const Claim& claim : make_system().claims) {
        if (claim.kind == ClaimKind::setting) continue;
        EXPECT_NE(claim.metric.empty(), claim.not_checkable.empty()) << claim.id;
        EXPECT_FALSE(claim.test.custom()) << claim.id;
    }
}

// What is swept and is no axis would be passed over in silence.
TEST_F(DrRegister, ProfilesSweepAxesThatThereAre) {
    for (const Experiment& experiment : make_system(Claims::leave).experiments)
        for (const ProfilePlan& plan : experiment.profiles)
            for (const auto& [axis, values] : plan.axes)
                EXPECT_TRUE(experiment.axis(axis)) << experiment.id << ": " << axis;
}

// A metric that no sample records would be an empty column for ever.
TEST_F(DrRegister, MetricsOfEqualTimeAreWhereItIsTrained) {
    for (const Experiment& experiment : make_system(Claims::leave).experiments) {
        bool declared = false;
        for (const MetricSpec& metric : experiment.metrics)
            declared |= metric.name.ends_with("_equal_time");
        EXPECT_EQ(declared, experiment.id.ends_with("/sft_perplexity") ||
                                experiment.id.ends_with("/sft_downstream"))
            << experiment.id;
    }
}

TEST_F(DrRegister, SetsAreJudgedOnlyAsTheyTrain) {
    bool registered = false;
    for (const Experiment& experiment : make_system(Claims::leave).experiments) {
        if (!experiment.id.ends_with("/x_choose")) continue;
        registered = true;
        SampleSpec spec;
        spec.axes = {{"model", "llama-toy"}, {"rule", "topk"}, {"tuning", "full"}};
        EXPECT_NO_THROW(experiment.validate(spec));
        for (const auto& [axis, word] : {std::pair("tuning", "lora"),
                                         {"tuning", "meso"},
                                         {"rule", "greedy"},
                                         {"similarity", "as_published"},
                                         {"model", "smollm2"}}) {
            SampleSpec other = spec;
            other.axes[axis] = word;
            EXPECT_THROW(experiment.validate(other), UserError) << axis << " " << word;
        }
    }
    EXPECT_TRUE(registered);
}

TEST_F(DrRegister, OursAreSaidToBeOurs) {
    for (const Experiment& experiment : make_system(Claims::leave).experiments) {
        const bool ours = experiment.id.find("/x_") != std::string::npos;
        EXPECT_EQ(experiment.source.rfind(ours ? "our own" : "arXiv 2605.07063v1, ", 0), 0u)
            << experiment.id;
    }
}

}  // namespace
}  // namespace assay::dr_post_training
