// The command that `assay plan trace --map` ends with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/base/error.hpp"
#include "suite/cli/run/trace_view.hpp"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;

Registry registry_with_traces(std::int64_t floor = 1) {
    Experiment e;
    e.id = "market/spot";
    e.axes = {{"model", "", {"small", "large"}, false},
              {"spot", "", {"p3-80min"}, true},
              {"mapping", "", {"min"}, true},
              {"nodes", "", {std::int64_t{10}}, true},
              {"floor", "", {floor}, true},
              {"minutes", "", {std::int64_t{80}}, true}};
    e.variants = {"a"};
    e.profiles = {ProfilePlan{.profile = Profile::toy, .provenances = {Provenance::simulated}}};
    e.validate = [](const SampleSpec& spec) {
        if (std::get<std::int64_t>(spec.axes.at("nodes")) > 64)
            throw UserError("axis nodes needs a whole number from 1 to 64");
    };
    System system;
    system.id = "market";
    system.experiments = {e};
    Registry registry;
    registry.add(std::move(system));
    return registry;
}

TraceView view_of(double minutes, NodeMapping mapping = NodeMapping::min, int nodes = 10) {
    TraceView view;
    view.trace.duration_s = minutes * 60;
    view.choice = MappingChoice{mapping, nodes, 3, 1};
    return view;
}

TEST(TraceRun, IsThePlainCommandOfTheExperimentThatTakesTraces) {
    const Registry registry = registry_with_traces();
    EXPECT_EQ(run_of_trace(registry, view_of(80), "p3-80min").command,
              "assay run market/spot -a model=small -a spot=p3-80min -a mapping=min -a nodes=10 "
              "-a minutes=80");
    TraceView clamped = view_of(12, NodeMapping::delta_clamped);
    clamped.choice->seed = 7;
    EXPECT_EQ(run_of_trace(registry, clamped, "my traces/a.csv").command,
              "assay run market/spot -a model=small -a 'spot=my traces/a.csv' -a "
              "mapping=delta_clamped -a nodes=10 -a floor=3 -a minutes=12 --seed 7");
}

TEST(TraceRun, GivesAFloorWhereTheExperimentsOwnIsMoreThanTheNodes) {
    TraceView two = view_of(80, NodeMapping::min, 2);
    two.choice->floor = 1;
    EXPECT_THAT(run_of_trace(registry_with_traces(3), two, "a.csv").command,
                HasSubstr("-a mapping=min -a nodes=2 -a floor=1 -a minutes=80"));
}

TEST(TraceRun, SaysWhatItLeavesOut) {
    const Registry registry = registry_with_traces();
    const TraceRun run = run_of_trace(registry, view_of(12.5), "a.csv");
    EXPECT_THAT(run.command, HasSubstr("-a minutes=12"));
    EXPECT_THAT(run.says, HasSubstr("the last 30 s are left out"));
    EXPECT_EQ(run_of_trace(registry, view_of(12), "a.csv").says, "");
}

TEST(TraceRun, IsASentenceWhereNothingWouldRun) {
    const Registry registry = registry_with_traces();
    const auto says = [&](const Registry& known, const TraceView& view, const char* name) {
        const TraceRun run = run_of_trace(known, view, name);
        EXPECT_EQ(run.command, "");
        return run.says;
    };
    EXPECT_THAT(says({}, view_of(80), "a.csv"), HasSubstr("no experiment of this build"));
    EXPECT_THAT(says(registry, view_of(80), ""), HasSubstr("with --out FILE.toml added"));
    EXPECT_THAT(says(registry, view_of(0.5), "a.csv"), HasSubstr("shorter than one"));
    EXPECT_THAT(says(registry, view_of(80, NodeMapping::min, 100), "a.csv"),
                HasSubstr("market/spot does not take it: axis nodes needs"));
    EXPECT_THAT(says(registry, view_of(80), "a,b.csv"), HasSubstr("a comma in its name"));
}

}  // namespace
}  // namespace assay::cli
