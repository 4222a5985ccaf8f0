// Which samples a request expands into, in which order, under which hash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlanTest : public ::testing::Test {
  protected:
    Registry registry = assay::testing::make_dummy_registry();
    Request request;

    PlanTest() { request.patterns = {"dummy/sum"}; }
    Plan plan() const { return make_plan(registry, request); }
    std::string refusal() const {
        try {
            make_plan(registry, request);
        } catch (const std::exception& error) {
            return error.what();
        }
        return {};
    }
};

std::vector<std::string> order(const Plan& plan) {
    std::vector<std::string> texts;
    for (const PlannedSample& sample : plan.samples)
        texts.push_back(to_string(sample.spec.axes.at("n")) + sample.spec.variant +
                        std::to_string(sample.spec.round));
    return texts;
}

TEST_F(PlanTest, VariantsTurnRoundInEverySecondRound) {
    request.rounds = 3;
    EXPECT_THAT(order(plan()),
                ElementsAre("2a0", "2b0", "2c0", "2c1", "2b1", "2a1", "2a2", "2b2", "2c2",  //
                            "3a0", "3b0", "3c0", "3c1", "3b1", "3a1", "3a2", "3b2", "3c2"));
}

TEST_F(PlanTest, AProfileMayLeaveVariantsToThoseWhoNameThem) {
    System system = assay::testing::make_dummy_system();
    for (ProfilePlan& profile : system.experiments.front().profiles) profile.variants = {"a", "c"};
    registry = {};
    registry.add(std::move(system));
    EXPECT_THAT(order(plan()), ElementsAre("2a0", "2c0", "3a0", "3c0"));
    request.variants = {"b"};
    EXPECT_THAT(order(plan()), ElementsAre("2b0", "3b0"));
    request.variants = {"d"};
    EXPECT_THAT(refusal(), HasSubstr("it has: a, b, c"));
}

TEST_F(PlanTest, EachRoundHasASeedOfItsOwnAndVariantsShareIt) {
    request.rounds = 2;
    request.seed = 40;
    for (const PlannedSample& sample : plan().samples)
        EXPECT_EQ(sample.spec.seed, 40U + static_cast<unsigned>(sample.spec.round));
}

TEST_F(PlanTest, ProfileDecidesSweepRoundsAndProvenance) {
    request.profile = Profile::small;
    const Plan result = plan();
    EXPECT_EQ(result.samples.size(), 2U * 2U * 3U * 3U);
    EXPECT_EQ(result.samples.front().spec.provenance, Provenance::exact);
    request.provenance = Provenance::simulated;
    EXPECT_EQ(plan().samples.front().spec.provenance, Provenance::simulated);
}

TEST_F(PlanTest, EstimatesAddUp) {
    const Plan result = plan();
    EXPECT_NEAR(result.seconds, 0.05 * 6, 1e-12);
    EXPECT_NEAR(result.bytes, 6000, 1e-9);
}

TEST_F(PlanTest, AxisIsNarrowedToDeclaredOrForOpenAxesAnyValues) {
    request.axes["n"] = {std::int64_t{3}, std::int64_t{7}, std::int64_t{3}};
    request.axes["kind"] = {std::string("fancy")};
    const Plan result = plan();
    EXPECT_THAT(order(result), ElementsAre("3a0", "3b0", "3c0", "7a0", "7b0", "7c0"));
    EXPECT_EQ(result.samples.front().spec.axes.at("kind"), Value(std::string("fancy")));
}

TEST_F(PlanTest, AWholeNumberOnAnAxisOfIntegersIsOneInAnyForm) {
    request.axes["n"] = {parse_value("2e0"), parse_value("1e3")};
    const Plan result = plan();
    EXPECT_THAT(order(result), ElementsAre("2a0", "2b0", "2c0", "1000a0", "1000b0", "1000c0"));
}

TEST_F(PlanTest, SomethingStandsInForADataSetThatIsNotHere) {
    const assay::testing::TemporaryFolder data_folder;
    const assay::testing::EnvironmentVariable data("ASSAY_DATA", data_folder.path().string());
    System system = assay::testing::make_dummy_system();
    Experiment& experiment = system.experiments.front();
    const std::string published = "smartmoe";
    experiment.axes.push_back({"trace", "", {published, "synthetic"}, true});
    experiment.profiles.front().axes["trace"] = {published};
    const std::string id = experiment.id;
    registry = {};
    registry.add(std::move(system));
    const auto traces = [this] {
        std::set<std::string> names;
        for (const PlannedSample& sample : plan().samples)
            names.insert(to_string(sample.spec.axes.at("trace")));
        return names;
    };
    EXPECT_THAT(traces(), ElementsAre("synthetic"));
    ASSERT_EQ(plan().stand_ins.size(), 1U);
    EXPECT_THAT(sentence(plan().stand_ins.front()),
                AllOf(HasSubstr(id + ": trace=synthetic stands in for smartmoe"),
                      HasSubstr("`assay data fetch smartmoe-loads --from FOLDER`")));
    EXPECT_EQ(plan().samples.size(), 6U);

    request.axes["trace"] = {published};  // asked for
    EXPECT_THAT(traces(), ElementsAre(published));
    EXPECT_TRUE(plan().stand_ins.empty());
    request.axes.clear();
    std::ofstream(data_folder / "smartmoe_expert_loads.csv") << "iteration,layer,e0\n";
    EXPECT_THAT(traces(), ElementsAre(published));
    EXPECT_TRUE(plan().stand_ins.empty());
}

// An axis that came later: at its usual value a case, and so its series, is what it was before.
TEST(Cases, LeaveAnAxisOutWhereItsSweepIsEmptyAndItsValueTheUsualOne) {
    Experiment experiment;
    experiment.axes = {{"n", "", {std::int64_t{1}}, true}, {"slots", "", {std::int64_t{6}}, true}};
    ProfilePlan profile;
    profile.axes = {{"slots", {}}};
    const Case usual{{"n", std::int64_t{1}}};
    EXPECT_THAT(cases(experiment, profile, {}), ElementsAre(usual));
    EXPECT_THAT(cases(experiment, profile, {{"slots", {std::int64_t{6}}}}), ElementsAre(usual));
    const Case eight{{"n", std::int64_t{1}}, {"slots", std::int64_t{8}}};
    EXPECT_THAT(cases(experiment, profile, {{"slots", {std::int64_t{8}, std::int64_t{6}}}}),
                ElementsAre(eight, usual));
    experiment.profiles = {profile};
    SampleSpec spec;
    spec.axes = usual;
    EXPECT_EQ(with_unnamed_values(experiment, spec).at("slots"), Value(std::int64_t{6}));
    spec.axes = eight;
    EXPECT_EQ(with_unnamed_values(experiment, spec), eight);
}

TEST_F(PlanTest, ImpossibleAxisOrValueNamesThePossibleOnes) {
    request.axes["nodes"] = {std::int64_t{3}};
    EXPECT_THAT(refusal(), HasSubstr("no axis 'nodes' in dummy/sum; axes: kind, n"));
    request.axes = {{"kind", {std::string("silly")}}};
    EXPECT_THAT(refusal(), HasSubstr("no value 'silly' on axis 'kind'; its values: plain, fancy"));
}

TEST_F(PlanTest, WhatIsNotOfferedIsRefused) {
    request.provenance = Provenance::measured;
    EXPECT_THAT(refusal(), HasSubstr("cannot be measured at profile toy; it can be: exact"));
    request.provenance.reset();
    request.profile = Profile::gpu;
    EXPECT_THAT(refusal(), HasSubstr("no profile gpu; it has: toy, small"));
    request.profile = Profile::toy;
    request.scenario_given = true;
    EXPECT_THAT(refusal(), HasSubstr("takes no faults"));
}

TEST_F(PlanTest, OfAWiderPatternOnlyTheFittingAreTaken) {
    request.patterns = {"dummy"};
    request.scenario_given = true;
    request.scenario = "kill:rank=0@step=2";
    const Plan result = plan();
    ASSERT_EQ(result.samples.size(), 1U);
    EXPECT_EQ(result.samples[0].spec.experiment, "dummy/behave");
    EXPECT_EQ(result.samples[0].spec.scenario, "kill:rank=0@step=2");
    EXPECT_THAT(result.left_out, ElementsAre(HasSubstr("dummy/sum takes no faults")));
    request.patterns = {"dummy/behave", "dummy/sum"};
    EXPECT_THAT(refusal(), HasSubstr("dummy/sum takes no faults"));
}

TEST_F(PlanTest, WhatIsLeftOutIsLeftOutWhole) {
    System other;
    other.id = "other";
    Experiment broken = *registry.experiment("dummy/sum");
    broken.id = "other/sum";
    broken.validate = [](const SampleSpec& spec) {
        if (to_string(spec.axes.at("n")) == "3")  // the second of two
            throw UserError("the file for this n is damaged");
    };
    other.experiments = {broken};
    registry.add(std::move(other));
    request.patterns = {"all"};
    const Plan result = plan();
    EXPECT_THAT(result.left_out, ElementsAre(HasSubstr("is damaged")));
    for (const PlannedSample& sample : result.samples)
        EXPECT_NE(sample.spec.experiment, "other/sum");
    EXPECT_EQ(result.samples.size(), 7U);
}

TEST_F(PlanTest, ExperimentsOwnScenarioIsTheDefault) {
    request.patterns = {"dummy/behave"};
    EXPECT_EQ(plan().samples[0].spec.scenario, "kill:rank=1@step=5");
    request.scenario_given = true;  // an empty scenario file: no faults at all
    EXPECT_EQ(plan().samples[0].spec.scenario, "");
}

TEST_F(PlanTest, APlanOfFaultsThatIsGivenIsOneVariantAtOneValue) {
    System system = assay::testing::make_dummy_system();
    system.experiments.front().takes_faults = true;
    system.experiments.front().given_faults = {.variant = "b", .axes = {{"n", std::int64_t{2}}}};
    registry = {};
    registry.add(std::move(system));
    EXPECT_EQ(plan().samples.size(), 6U);
    request.scenario_given = true;
    request.scenario = "kill:rank=0@step=2";
    EXPECT_THAT(order(plan()), ElementsAre("2b0"));
    request.variants = {"c"};
    request.axes = {{"n", {std::int64_t{3}}}};
    EXPECT_THAT(order(plan()), ElementsAre("3c0"));
}

TEST_F(PlanTest, PatternsThatOverlapRunAnExperimentOnce) {
    request.patterns = {"dummy/sum", "dummy/s*", "all"};
    EXPECT_EQ(plan().samples.size(), 7U);
}

TEST_F(PlanTest, UnknownExperimentSuggestsTheNearest) {
    request.patterns = {"dummy/sun"};
    EXPECT_THAT(refusal(), HasSubstr("dummy/sum"));
}

TEST_F(PlanTest, RoundsAndTimeoutMustBePositive) {
    request.rounds = 0;
    EXPECT_THAT(refusal(), HasSubstr("--rounds 0"));
    request.rounds = 1;
    request.timeout_s = -1;
    EXPECT_THAT(refusal(), HasSubstr("--timeout -1"));
}

TEST_F(PlanTest, HugeSweepsAreRefusedBeforeTheyFillMemory) {
    request.rounds = 2'000'000'000;
    EXPECT_THAT(refusal(), HasSubstr("more than"));
}

TEST_F(PlanTest, HashChangesWithWhatDefinesTheSamplesOnly) {
    std::set<std::string> hashes{plan().hash};
    const auto is_new = [&] { return hashes.insert(plan().hash).second; };
    EXPECT_EQ(plan().hash, *hashes.begin());
    request.timeout_s = 5;
    request.fresh = true;
    request.command = "assay run again";
    EXPECT_FALSE(is_new());
    request.seed = 2;
    EXPECT_TRUE(is_new());
    request.rounds = 2;
    EXPECT_TRUE(is_new());
    request.axes["n"] = {std::int64_t{2}};
    EXPECT_TRUE(is_new());
    request.profile = Profile::small;
    EXPECT_TRUE(is_new());
    request.provenance = Provenance::simulated;
    EXPECT_TRUE(is_new());
    request.patterns = {"dummy"};
    request.axes.clear();
    request.provenance.reset();
    request.profile = Profile::toy;
    EXPECT_TRUE(is_new());
    EXPECT_EQ(plan().hash.size(), 64U);
}

}  // namespace
}  // namespace assay::runner
