// The registry refuses wrong registrations, selects by pattern, and suggests the nearest id.
#include <gtest/gtest.h>

#include <functional>

#include "suite/base/error.hpp"
#include "suite/experiment/system.hpp"

namespace {

assay::Experiment experiment(const std::string& id) {
    assay::Experiment made;
    made.id = id;
    made.variants = {"mro", "spread"};
    made.axes = {{"model", "", {}, false}};
    made.metrics = {{"p", "probability", "", assay::Direction::higher, true, {"failed"}}};
    return made;
}

assay::Claim claim(const std::string& id, const std::string& experiment) {
    assay::Claim made;
    made.id = id;
    made.experiment = experiment;
    made.metric = "p";
    made.test.name = "near";
    made.value = 1;
    return made;
}

assay::System lazarus() {
    assay::System system;
    system.id = "lazarus";
    for (const char* id : {"lazarus/fig4", "lazarus/fig8", "lazarus/fig10b", "lazarus/x_live"})
        system.experiments.push_back(experiment(id));
    return system;
}

std::vector<std::string> selected(const assay::Registry& registry, std::string_view pattern) {
    std::vector<std::string> ids;
    for (const auto* found : registry.select(pattern)) ids.push_back(found->id);
    return ids;
}

std::string refusal(const std::function<void(assay::System&)>& spoil) {
    assay::System system = lazarus();
    spoil(system);
    try {
        assay::Registry().add(std::move(system));
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "accepted";
}

std::string unknown(std::string_view pattern) {
    assay::Registry registry;
    registry.add(lazarus());
    try {
        registry.select(pattern);
    } catch (const assay::UnknownExperiment& error) {
        return error.what();
    }
    return "found";
}

using Ids = std::vector<std::string>;

}  // namespace

TEST(Registry, SelectsByIdSystemGlobAndAll) {
    assay::Registry registry;
    registry.add(lazarus());
    assay::System other;
    other.id = "plato";
    other.experiments = {experiment("plato/fig8")};
    registry.add(std::move(other));
    EXPECT_EQ(selected(registry, "lazarus/fig8"), Ids{"lazarus/fig8"});
    EXPECT_EQ(selected(registry, "plato"), Ids{"plato/fig8"});
    EXPECT_EQ(selected(registry, "lazarus/fig*"),
              (Ids{"lazarus/fig4", "lazarus/fig8", "lazarus/fig10b"}));
    EXPECT_EQ(selected(registry, "*/fig8"), (Ids{"lazarus/fig8", "plato/fig8"}));
    EXPECT_EQ(selected(registry, "lazarus/fig?"), (Ids{"lazarus/fig4", "lazarus/fig8"}));
    EXPECT_EQ(selected(registry, "l*z*/*_l*e"), Ids{"lazarus/x_live"});
    EXPECT_EQ(selected(registry, "all").size(), 5u);
    EXPECT_EQ(registry.experiment("plato/fig8")->id, "plato/fig8");
    EXPECT_EQ(registry.experiment("plato/fig9"), nullptr);
    EXPECT_EQ(registry.system("foundry"), nullptr);
}

TEST(Registry, SuggestsTheNearestId) {
    EXPECT_EQ(unknown("lazarus/fig88"),
              "unknown experiment 'lazarus/fig88'; did you mean 'lazarus/fig8'? `assay list` shows "
              "all experiments");
    EXPECT_NE(unknown("fig8").find("did you mean 'lazarus/fig8'?"), std::string::npos);
    EXPECT_NE(unknown("Lazarus/x-live").find("did you mean 'lazarus/x_live'?"), std::string::npos);
    EXPECT_NE(unknown("lazraus").find("did you mean 'lazarus'?"), std::string::npos);
    EXPECT_EQ(unknown("quicksort"),
              "unknown experiment 'quicksort'; `assay list` shows all experiments");
    EXPECT_EQ(unknown("").find("did you mean"), std::string::npos);
}

TEST(NearestId, SwapsCountOnceAndNonsenseIsNotGuessed) {
    EXPECT_EQ(assay::nearest_id("gif8", {"fig9", "fgi8"}), "fgi8");
    EXPECT_EQ(assay::nearest_id("zzzz", {"fig8", "tab2"}), std::nullopt);
    EXPECT_EQ(assay::nearest_id(std::string(5000, 'a'), {std::string(300, 'a')}), std::nullopt);
    EXPECT_EQ(assay::nearest_id("a", {}), std::nullopt);
}

TEST(Registry, RefusesWhatCannotBeRight) {
    EXPECT_EQ(refusal([](auto&) {}), "accepted");
    EXPECT_EQ(refusal([](auto& s) { s.experiments.push_back(experiment("lazarus/fig8")); }),
              "experiment lazarus/fig8 is registered twice");
    EXPECT_EQ(refusal([](auto& s) { s.experiments.push_back(experiment("plato/fig8")); }),
              "experiment 'plato/fig8' is not of system lazarus");
    EXPECT_EQ(refusal([](auto& s) { s.claims = {claim("lazarus/fig8/a", "plato/fig8")}; }),
              "claim lazarus/fig8/a: experiment 'plato/fig8' is not of system lazarus");
    EXPECT_EQ(refusal([](auto& s) {
                  s.claims = {claim("lazarus/fig8/a", "lazarus/fig8"),
                              claim("lazarus/fig8/a", "lazarus/fig8")};
              }),
              "claim lazarus/fig8/a is registered twice");
    EXPECT_EQ(refusal([](auto& s) {
                  s.claims = {claim("lazarus/fig8/a", "lazarus/fig8")};
                  s.claims[0].metric = "loss";
              }),
              "claim lazarus/fig8/a: experiment lazarus/fig8 has no metric 'loss'");
    EXPECT_EQ(refusal([](auto& s) {
                  s.claims = {claim("lazarus/fig8/a", "lazarus/fig8")};
                  s.claims[0].of = {"compact", {}};
              }),
              "claim lazarus/fig8/a: experiment lazarus/fig8 has no variant 'compact'");
    EXPECT_EQ(refusal([](auto& s) {
                  s.claims = {claim("lazarus/fig8/a", "lazarus/fig8")};
                  s.claims[0].of.where = {{"failed", std::int64_t{1}}, {"stp", std::int64_t{1}}};
              }),
              "claim lazarus/fig8/a: experiment lazarus/fig8 has no axis or label 'stp'");
    EXPECT_EQ(refusal([](auto& s) {
                  s.claims = {claim("lazarus/fig8/a", "lazarus/fig8")};
                  s.claims[0].test.name = "custom:nothing";
              }),
              "claim lazarus/fig8/a: system lazarus has no check 'custom:nothing'");
    const auto refused_test = [](assay::Test test) {
        return refusal([&](auto& s) {
            s.claims = {claim("lazarus/fig8/a", "lazarus/fig8")};
            test.name = "near";
            s.claims[0].test = test;
        });
    };
    const std::string no = "claim lazarus/fig8/a: experiment lazarus/fig8 has no ";
    const assay::Case misspelt{{"modle", std::string("gpt-l")}};
    EXPECT_EQ(refused_test({.except = {misspelt}}), no + "axis or label 'modle'");
    EXPECT_EQ(refused_test({.except = {{{"variant", std::string("compact")}}}}),
              no + "variant 'compact'");
    EXPECT_EQ(refused_test({.reduce = "max", .extreme_at = misspelt}),
              no + "axis or label 'modle'");
    EXPECT_EQ(refused_test({.between = {{"stp", {1, 2}}}}), no + "axis or label 'stp'");
    EXPECT_EQ(refused_test({.absent = {"network"}}), no + "axis or label 'network'");
    EXPECT_EQ(refused_test({.along = "model", .equal = "loss"}), no + "metric 'loss'");
    const auto refused_fit = [](const assay::Fit& fit) {
        return refusal([&](auto& s) {
            s.claims = {claim("lazarus/fig8/a", "lazarus/fig8")};
            s.claims[0].fits = {fit};
        });
    };
    EXPECT_EQ(refused_fit({.of = "lazarus/fig8/", .metrics = {"loss"}}),
              "a fit of lazarus/fig8/: experiment lazarus/fig8 has no metric 'loss'");
    EXPECT_EQ(refused_fit({.of = "lazarus/fig8/", .variants = {"compact"}}),
              "a fit of lazarus/fig8/: experiment lazarus/fig8 has no variant 'compact'");
    EXPECT_EQ(refused_fit({.of = "lazarus/", .metrics = {"loss"}}), "accepted")
        << "another experiment may have it";
    EXPECT_EQ(refusal([](auto& s) {
                  s.event_kinds = {{"death", "deaths"}};
              }),
              "system lazarus: event kind 'death' is declared twice");
    for (const char* name : {"step", "", "two words", "a,b"})
        EXPECT_NE(refusal([&](auto& s) { s.fault_phases = {{.name = name, .says = ""}}; }),
                  "accepted")
            << name;
}

TEST(Registry, RefusesAnExperimentThatContradictsItself) {
    const auto refused = [](const std::function<void(assay::Experiment&)>& spoil) {
        return refusal([&](auto& s) { spoil(s.experiments[1]); });
    };
    const std::string where = "experiment lazarus/fig8: ";
    EXPECT_EQ(refused([](auto& e) { e.variants.clear(); }),
              where + "it has no variant, and so no samples");
    EXPECT_EQ(refused([](auto& e) { e.axes.push_back(e.axes[0]); }),
              where + "axis 'model' is there twice");
    EXPECT_EQ(refused([](auto& e) {
                  e.profiles = {{.axes = {{"modle", {}}}}};
              }),
              where + "a profile sweeps 'modle', which is no axis");
    EXPECT_EQ(refused([](auto& e) { e.profiles = {{.variants = {"compact"}}}; }),
              where + "a profile has variant 'compact', which is none of its own");
    EXPECT_EQ(refused([](auto& e) { e.figure = {.metric = "loss", .x = "model"}; }),
              where + "its figure draws 'loss', which is no metric");
    EXPECT_EQ(refused([](auto& e) { e.figure = {.metric = "p", .x = "modle"}; }),
              where + "its figure goes by 'modle', which is no axis or label");
    EXPECT_EQ(refused([](auto& e) { e.figure = {.metric = "p", .x = "failed"}; }), "accepted");
}

TEST(Registry, EventKindsAreTheSuitesAndTheSystemsOwn) {
    assay::Registry registry;
    assay::System system = lazarus();
    system.event_kinds = {{"regroup", "regroups"}};
    registry.add(std::move(system));
    const auto kinds = registry.event_kinds(*registry.experiment("lazarus/fig8"));
    ASSERT_EQ(kinds.size(), assay::suite_event_kinds().size() + 1);
    EXPECT_EQ(kinds.front().name, "fault");
    EXPECT_EQ(kinds.back().name, "regroup");
}

TEST(Registry, ConvertersOfDataAreThoseOfAllSystemsEachOnce) {
    const auto convert = [](const auto&...) {};
    assay::Registry registry;
    assay::System system = lazarus();
    system.data_converters = {{"logs", convert}};
    registry.add(std::move(system));
    EXPECT_TRUE(registry.data_converters().contains("logs"));
    assay::System other;
    other.id = "lte";
    other.data_converters = {{"logs", convert}};
    EXPECT_THROW(registry.add(std::move(other)), std::logic_error);
    EXPECT_NE(refusal([](auto& s) { s.data_converters["none"] = nullptr; }), "accepted");
}

TEST(Registry, FaultPhasesAreThoseOfAllSystemsEachNameOnce) {
    assay::Registry registry;
    assay::System system = lazarus();
    system.fault_phases = {{.name = "regroup", .says = ""}, {.name = "transfer", .says = ""}};
    registry.add(std::move(system));
    assay::System other;
    other.id = "lte";
    other.fault_phases = {{.name = "transfer", .says = "", .corruptible = true}};
    registry.add(std::move(other));
    const assay::FaultPhases phases = registry.fault_phases();
    ASSERT_EQ(phases.size(), 2u);
    EXPECT_EQ(phases[0].name, "regroup");
    EXPECT_FALSE(phases[0].corruptible);
    EXPECT_TRUE(phases[1].corruptible) << "one of them can";
}

TEST(Registry, FormatsOfDataAreThoseOfAllSystemsEachOnce) {
    const auto check = [](std::istream&) {};
    assay::Registry registry;
    assay::System system = lazarus();
    system.data_formats = {{"loads", check}};
    registry.add(std::move(system));
    EXPECT_TRUE(registry.data_formats().contains("loads"));
    assay::System other;
    other.id = "lte";
    other.data_formats = {{"loads", check}};
    EXPECT_THROW(registry.add(std::move(other)), std::logic_error);
    EXPECT_NE(refusal([](auto& s) { s.data_formats["none"] = nullptr; }), "accepted");
}

TEST(Registry, AHighlightMustBeThere) {
    const auto highlighted = [](assay::Highlight::Part part, const std::string& picture) {
        return refusal([&](assay::System& s) {
            s.experiments[0].profiles.resize(1);
            s.highlight = {"look", {std::move(part)}, picture};
        });
    };
    EXPECT_EQ(highlighted({"lazarus/fig4", {{"model", {}}}, {"mro"}}, "lazarus/fig4"), "accepted");
    EXPECT_EQ(highlighted({"lazarus/fig5"}, ""),
              "highlight of lazarus: no experiment 'lazarus/fig5'");
    EXPECT_EQ(highlighted({"lazarus/fig8"}, ""),
              "highlight of lazarus: lazarus/fig8 has no profile toy");
    EXPECT_EQ(highlighted({"lazarus/fig4", {{"mode", {}}}}, ""),
              "highlight of lazarus: lazarus/fig4 has no axis 'mode'");
    EXPECT_EQ(highlighted({"lazarus/fig4", {}, {"compact"}}, ""),
              "highlight of lazarus: lazarus/fig4 has no variant 'compact'");
    EXPECT_EQ(highlighted({"lazarus/fig4"}, "lazarus/fig8"),
              "highlight of lazarus: its picture 'lazarus/fig8' is none of its parts");
}

TEST(Registry, AddingASystemTwiceIsRefused) {
    assay::Registry registry;
    registry.add(lazarus());
    EXPECT_THROW(registry.add(lazarus()), std::logic_error);
    EXPECT_EQ(registry.systems().size(), 1u);
}

TEST(Registry, AClaimMayWaitForItsExperiment) {
    assay::Registry registry;
    assay::System system = lazarus();
    system.claims = {claim("lazarus/fig9/a", "lazarus/fig9"),
                     claim("lazarus/fig8/a", "lazarus/fig8")};
    system.claims[0].test.name = "custom:later";
    for (auto& each : system.claims) each.checkable = {{"toy", "exact"}};
    registry.add(std::move(system));
    const assay::ClaimCheck waiting = check_claim(registry, *registry.claim("lazarus/fig9/a"), {});
    EXPECT_EQ(waiting.verdict, assay::ClaimVerdict::not_checkable_here);
    EXPECT_EQ(waiting.reason, "experiment lazarus/fig9 is not part of this build");
    EXPECT_EQ(waiting.claim, "lazarus/fig9/a");
    EXPECT_EQ(check_claim(registry, *registry.claim("lazarus/fig8/a"), {}).verdict,
              assay::ClaimVerdict::not_run);
}

// A profile sweeps one of the values that an axis lists; the others are evidence for claims that
// ask for them, and a value of the user's own is none.
TEST(Registry, AClaimIsCheckedOnTheValueThatItAsksFor) {
    const auto verdict = [](const std::string& obtained_on, std::vector<std::string> needs,
                            assay::Case where) {
        assay::Registry registry;
        assay::System system = lazarus();
        assay::Experiment& fig8 = system.experiments[1];
        fig8.axes = {{"trace", "", {"synthetic", "published"}, true}};
        fig8.profiles.resize(1);
        fig8.profiles[0].axes = {{"trace", {"synthetic"}}};
        assay::Claim asks = claim("lazarus/fig8/a", "lazarus/fig8");
        asks.checkable = {{"toy", "exact"}};
        asks.needs = std::move(needs);
        asks.of.where = std::move(where);
        system.claims = {asks};
        registry.add(std::move(system));
        assay::Observation seen;
        seen.experiment = "lazarus/fig8";
        seen.variant = "mro";
        seen.axes = {{"trace", obtained_on}};
        seen.metric = "p";
        seen.labels = {{"failed", std::int64_t{1}}};
        seen.value = 1;
        return check_claim(registry, *registry.claim("lazarus/fig8/a"), {&seen, 1}).verdict;
    };
    using enum assay::ClaimVerdict;
    EXPECT_EQ(verdict("synthetic", {}, {}), supported);
    EXPECT_EQ(verdict("published", {}, {}), not_run);
    EXPECT_EQ(verdict("published", {"trace:published"}, {}), supported);
    EXPECT_EQ(verdict("published", {}, {{"trace", "published"}}), supported);
    EXPECT_EQ(verdict("mine.csv", {}, {{"trace", "mine.csv"}}), not_run);
    EXPECT_NE(verdict("mine.csv", {"trace:mine.csv"}, {}), supported);
}
