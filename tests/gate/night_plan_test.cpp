// What a suite asks for, series by series.
#include "suite/gate/plan/night_plan.hpp"

#include <gtest/gtest.h>

#include "suite/base/error.hpp"

namespace assay::gate {
namespace {

Registry registry_of_two_profiles() {
    Experiment experiment;
    experiment.id = "two/work";
    experiment.axes = {{"a", "a word", {"x"}, true}, {"b", "another", {"x"}, true}};
    experiment.variants = {"only"};
    experiment.metrics = {{"seconds", "s", "", Direction::lower, false, {}},
                          {"start", "s", "", Direction::lower, false, {}}};
    ProfilePlan toy, small;
    toy.provenances = {Provenance::measured, Provenance::emulated};
    small.profile = Profile::small;
    small.provenances = {Provenance::measured};
    experiment.profiles = {toy, small};
    experiment.figure = {.metric = "seconds", .x = "a"};
    experiment.run = [](const SampleSpec&, Recorder&) {};
    System system;
    system.id = "two";
    system.experiments = {experiment};
    Registry registry;
    registry.add(std::move(system));
    return registry;
}

RowId series(Profile profile, Provenance provenance, const std::string& a = "x",
             const std::string& b = "x") {
    RowId id;
    id.experiment = "two/work";
    id.variant = "only";
    id.axes = {{"a", a}, {"b", b}};
    id.profile = profile;
    id.provenance = provenance;
    return id;
}

TEST(NightPlan, EveryProfileAndModeOfAnExperimentHasItsOwnSettings) {
    const NightPlan plan = make_night_plan(registry_of_two_profiles(), parse_suite(R"(
name = "s"
control = false
[[experiment]]
patterns = ["two/work"]
margin = 0.02
rounds = 3
[[experiment]]
patterns = ["two/work"]
mode = "emulated"
metrics = ["start"]
margin = 0.1
rounds = 2
[[experiment]]
patterns = ["two/work"]
profile = "small"
metrics = ["seconds"]
margin = 0.5
rounds = 1
)",
                                                                                   "s.toml"));
    ASSERT_EQ(plan.gates.size(), 3u);
    const SeriesGate& toy = plan.gates.at(series(Profile::toy, Provenance::measured));
    EXPECT_EQ(toy.margin, 0.02);
    EXPECT_TRUE(toy.metrics.empty());
    EXPECT_EQ(toy.rounds, 3);
    const SeriesGate& emulated = plan.gates.at(series(Profile::toy, Provenance::emulated));
    EXPECT_EQ(emulated.margin, 0.1);
    EXPECT_EQ(emulated.metrics, std::set<std::string>{"start"});
    const SeriesGate& small = plan.gates.at(series(Profile::small, Provenance::measured));
    EXPECT_EQ(small.margin, 0.5);
    EXPECT_EQ(small.rounds, 1);
    EXPECT_EQ(plan.plan.samples.size(), 6u);
}

TEST(NightPlan, EntriesThatDifferOnOneSeriesAreRefused) {
    const auto planned = [](const std::string& second) {
        return make_night_plan(registry_of_two_profiles(),
                               parse_suite("name = \"s\"\ncontrol = false\n[[experiment]]\n"
                                           "patterns = [\"two/work\"]\nmetrics = [\"seconds\"]\n"
                                           "[[experiment]]\npatterns = [\"two\"]\n" +
                                               second,
                                           "s.toml"));
    };
    EXPECT_EQ(planned("metrics = [\"seconds\"]").gates.size(), 1u) << "the same twice";
    EXPECT_THROW(planned("metrics = [\"start\"]"), UserError) << "start would stay unwatched";
    EXPECT_THROW(planned("metrics = [\"seconds\"]\nmargin = 0.2"), UserError);
}

// As texts, "two/work only a=1 b=2 b=3", both are the same.
TEST(NightPlan, ValuesThatReadAlikeStayApart) {
    const NightPlan plan = make_night_plan(registry_of_two_profiles(), parse_suite(R"(
name = "s"
control = false
[[experiment]]
patterns = ["two/work"]
axes = { a = "1 b=2", b = "3" }
margin = 0.02
[[experiment]]
patterns = ["two/work"]
axes = { a = "1", b = "2 b=3" }
margin = 0.5
)",
                                                                                   "s.toml"));
    const RowId one = series(Profile::toy, Provenance::measured, "1 b=2", "3"),
                two = series(Profile::toy, Provenance::measured, "1", "2 b=3");
    EXPECT_EQ(one.text(), two.text());
    ASSERT_EQ(plan.gates.size(), 2u);
    EXPECT_EQ(plan.gates.at(one).margin, 0.02);
    EXPECT_EQ(plan.gates.at(two).margin, 0.5);
}

}  // namespace
}  // namespace assay::gate
