#include "suite/cli/upkeep/gpu_experiments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/dummy_system.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Experiment experiment(const std::string& id, bool on_gpus) {
    Experiment made;
    made.id = id;
    made.title = id;
    made.variants = {"ours", "theirs"};
    made.metrics = {{"time_s", "s", "how long", Direction::lower, true, {}}};
    made.axes = {{"size", "how many", {1, 2}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    made.profiles = {toy};
    if (on_gpus) {
        toy.profile = Profile::gpu;
        made.profiles.push_back(toy);
    }
    made.run = [](const SampleSpec&, Recorder&) {};
    return made;
}

/// One system with two experiments of profile gpu, of which one cannot run as `theirs`, and one
/// system without any.
Registry registry() {
    System quick, late;
    quick.id = "quick";
    quick.experiments = {experiment("quick/fig1", true), experiment("quick/fig2", true),
                         experiment("quick/fig3", false)};
    quick.experiments[1].unsupported = [](const SampleSpec& spec) -> std::optional<std::string> {
        if (spec.profile == Profile::gpu && spec.variant == "theirs" && spec.axes.size() == 1)
            return "it has no tensor cores";
        return std::nullopt;
    };
    late.id = "late";
    late.experiments = {experiment("late/fig1", false)};
    Registry registry;
    registry.add(std::move(quick));
    registry.add(std::move(late));
    return registry;
}

TEST(GpuExperiments, AreNamedWhereThereIsNoGpu) {
    const auto finding = gpu_experiments(registry(), false);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->level, measure::Level::ok);
    EXPECT_THAT(finding->says, AllOf(HasSubstr("2 have the profile gpu (quick 2)"),
                                     Not(HasSubstr("late")), Not(HasSubstr("fig3"))));
}

TEST(GpuExperiments, SayThemselvesWhetherTheyWouldRun) {
    const auto finding = gpu_experiments(registry(), true);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->level, measure::Level::warn);
    EXPECT_THAT(finding->says, AllOf(HasSubstr("1 of 2 would run (quick 1)"),
                                     HasSubstr("not quick/fig2: it has no tensor cores")));
}

TEST(GpuExperiments, OfNoSystemAreNoFinding) { EXPECT_FALSE(gpu_experiments(Registry(), true)); }

}  // namespace
}  // namespace assay::cli
