// Claims as rows, counts and reasons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>

#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/paper_cells.hpp"
#include "suite/report/text/unchecked_claims.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/report/fixtures.hpp"

namespace assay::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Claim named(const std::string& id, Claim claim) {
    claim.id = id;
    return claim;
}

Registry registry() {
    System system;
    system.id = "lazarus";
    system.paper = "arXiv 1";
    Experiment experiment = recovery_experiment();
    experiment.run = [](const SampleSpec&, Recorder&) {};
    system.experiments.push_back(std::move(experiment));
    system.claims = recovery_claims();
    Claim setting;
    setting.kind = ClaimKind::setting;
    setting.experiment = "lazarus/setup";
    setting.says = "32 nodes";
    setting.source = "arXiv 1, section 6";
    setting.value = 32;
    system.claims.push_back(named("lazarus/setup/nodes", setting));
    Claim traced = system.claims.front();
    traced.explained.reset();
    traced.cells.clear();
    traced.checkable = {{"toy", "exact"}};
    traced.needs = {"trace:smartmoe"};
    traced.of.where["trace"] = std::string("smartmoe");
    system.claims.push_back(named("lazarus/fig8/traced-1", traced));
    system.claims.push_back(named("lazarus/fig8/traced-2", traced));
    Claim cluster = traced;
    cluster.needs = {"cluster"};
    cluster.not_checkable = "needs the paper's cluster";
    system.claims.push_back(named("lazarus/fig8/cluster", cluster));
    Claim elsewhere = traced;
    elsewhere.needs.clear();
    elsewhere.checkable.clear();
    elsewhere.metric.clear();
    elsewhere.of = {};
    system.claims.push_back(named("lazarus/fig8/unmeasured", elsewhere));
    Registry all;
    all.add(std::move(system));
    return all;
}

std::vector<const Claim*> claims_of(const Registry& all) {
    std::vector<const Claim*> claims;
    for (const Claim& claim : all.systems().front().claims) claims.push_back(&claim);
    return claims;
}

std::vector<ClaimCheck> nothing_run(const Registry& all) {
    return newest_checks(all, nullptr, claims_of(all));
}

const ClaimCheck& check_of(const std::vector<ClaimCheck>& checks, const std::string& claim) {
    for (const ClaimCheck& check : checks)
        if (check.claim == claim) return check;
    throw std::out_of_range(claim);
}

TEST(ClaimsTable, SaysWhatIsClaimedWhereAndWhatWasFound) {
    const std::vector<ClaimCheck> checks{{"lazarus/fig8/gpt-l/200/spread-4",
                                          ClaimVerdict::supported, "0.119 is within 5 %.",
                                          Provenance::exact, 25.0 / 210}};
    EXPECT_EQ(claims_table(registry(), checks),
              "verdict    paper   ours  provenance  claim\n"
              "─────────  ─────  ─────  ──────────  ───────────────────────────────\n"
              "supported   0.12  0.119  exact       lazarus/fig8/gpt-l/200/spread-4\n"
              "    “At four failed nodes, GPT-L, step 200: spread” (section 6.3, Fig. 8)\n"
              "    0.119 is within 5 %.\n");
    EXPECT_EQ(claims_table(registry(), checks, 40),
              "lazarus/fig8/gpt-l/200/spread-4\n"
              "    supported: paper 0.12, ours 0.119\n"
              "    (exact)\n"
              "    “At four failed nodes, GPT-L, step\n"
              "    200: spread” (section 6.3, Fig. 8)\n"
              "    0.119 is within 5 %.\n");
}

TEST(ClaimsTable, NeighboursWithOneReasonShareItInFull) {
    const std::vector<ClaimCheck> checks{{"one", ClaimVerdict::not_run, "needs a GPU", {}, {}},
                                         {"two", ClaimVerdict::not_run, "needs a GPU", {}, {}},
                                         {"three", ClaimVerdict::not_run, "needs two", {}, {}}};
    EXPECT_EQ(claims_rows(registry(), checks),
              "verdict  paper  ours  provenance  claim\n"
              "───────  ─────  ────  ──────────  ─────\n"
              "not run  –      –     –           one\n"
              "not run  –      –     –           two\n"
              "    For the 2 above: needs a GPU\n"
              "not run  –      –     –           three\n"
              "    needs two\n");
}

TEST(ClaimsTable, WhatWasNotCheckedIsCountedByReason) {
    const testing::EnvironmentVariable no_data("ASSAY_DATA", "/nonexistent/data");
    const Registry all = registry();
    const std::string text = claims_table(all, nothing_run(all));
    EXPECT_THAT(text, HasSubstr("    2  need the trace smartmoe"));
    EXPECT_THAT(text, HasSubstr("`assay data fetch smartmoe-loads --from FOLDER`"));
    EXPECT_THAT(text, HasSubstr("lazarus/fig8 -a trace=smartmoe` checks them"));
    EXPECT_THAT(text, HasSubstr("    1  needs the paper's cluster\n       in lazarus/fig8\n"));
    EXPECT_THAT(text, Not(HasSubstr("setup"))) << "settings are no claims";
    EXPECT_THAT(settings_table(all, nothing_run(all)), HasSubstr("32 nodes"));
    EXPECT_THAT(settings_table(all, nothing_run(all)), Not(HasSubstr("fig8")));
}

TEST(ClaimsTally, CountsVerdictsAndLeavesSettingsOut) {
    const testing::EnvironmentVariable no_data("ASSAY_DATA", "/nonexistent/data");
    const Registry all = registry();
    std::vector<ClaimCheck> checks = nothing_run(all);
    EXPECT_EQ(
        headline(tally(all, checks)),
        "none of 7 claims checked; 2 need data, 1 needs the paper's cluster, 4 no command checks");
    checks[0].verdict = ClaimVerdict::supported;
    checks[1].verdict = ClaimVerdict::undecided;
    checks[2].verdict = ClaimVerdict::calibrated;
    const ClaimsTally sum = tally(all, checks);
    EXPECT_EQ(headline(sum),
              "1 of 3 checked hold, 1 undecided, 1 calibrated; 2 need data, 1 needs the paper's "
              "cluster, 1 no command checks");
    EXPECT_EQ(sum.settings, 1U);
    EXPECT_EQ(sum.claims(), 7U);
    checks[1].verdict = ClaimVerdict::contradicted;
    EXPECT_THAT(headline(tally(all, checks)), HasSubstr("1 of 3 checked hold, 1 contradicted, "));
}

TEST(ClaimsTally, CountsOursAndArithmeticApart) {
    System system;
    system.id = "lazarus";
    for (const auto& [id, kind] : {std::pair{"lazarus/fig8/printed", ClaimKind::claim},
                                   std::pair{"lazarus/fig8/ours", ClaimKind::ours},
                                   std::pair{"lazarus/fig8/closed", ClaimKind::arithmetic}}) {
        Claim claim;
        claim.kind = kind;
        claim.experiment = "lazarus/fig8";
        claim.explained = Explanation{"rounding", 0.5, 0.1};
        system.claims.push_back(named(id, claim));
    }
    Registry all;
    all.add(std::move(system));
    std::vector<ClaimCheck> checks;
    for (const Claim* claim : claims_of(all))
        checks.push_back({claim->id, ClaimVerdict::contradicted, "", {}, 0.5});
    checks[1].verdict = ClaimVerdict::supported;
    checks[2].obtained = 0.7;
    const ClaimsTally sum = tally(all, checks);
    EXPECT_EQ(sum.claims(), 1U);
    EXPECT_EQ(sum.contradicted, 1U);
    EXPECT_EQ(sum.explained, 1U);
    EXPECT_EQ(sum.ours.claims(), 1U);
    EXPECT_EQ(sum.ours.hold, 1U);
    EXPECT_EQ(sum.arithmetic.contradicted, 1U);
    EXPECT_EQ(sum.arithmetic.explained, 0U) << "0.7 is not 0.5";
    EXPECT_EQ(headline(sum),
              "0 of 1 checked hold, 1 contradicted (1 explained); ours: 1 of 1 checked hold; "
              "arithmetic: 0 of 1 checked hold, 1 contradicted");
    EXPECT_EQ(headline(tally(all, std::span(checks).subspan(1, 1))), "ours: 1 of 1 checked hold");
    const std::string rows = claims_rows(all, checks, 200);
    EXPECT_THAT(rows, HasSubstr("    explained: rounding (of 0.5 ± 0.1)\n"));
    EXPECT_THAT(rows, HasSubstr("    its explanation is of 0.5 ± 0.1, not of 0.7: rounding\n"));
    EXPECT_THAT(rows, HasSubstr(" (ours)\n"));
    EXPECT_THAT(rows, HasSubstr(" (arithmetic)\n"));
}

TEST(PaperCells, StandBesideTheMedianOfOurs) {
    Claim claim = recovery_claims().front();
    claim.cells = {{"mro", "4", 0.41}, {"gpt-l", "spread", 0.12}, {"other", "4", 0.2}};
    std::vector<store::Sample> samples;
    for (const double value : {0.5, 0.6, 0.7}) {
        store::Sample& sample = samples.emplace_back();
        sample.spec.variant = "mro";
        sample.spec.axes = {{"model", std::string("gpt-l")}};
        sample.metrics = {{claim.metric, {{"failed", std::int64_t{4}}}, value},
                          {claim.metric, {{"failed", std::int64_t{5}}}, 0.1},
                          {"plan_seconds", {{"failed", std::int64_t{4}}}, 9}};
    }
    EXPECT_EQ(cells_grid(claim, samples), (Grid{{"row", "column", "paper", "ours"},
                                                {"mro", "4", "0.41", "0.6"},
                                                {"gpt-l", "spread", "0.12", "–"},
                                                {"other", "4", "0.2", "–"}}));
    claim.cells.clear();
    EXPECT_TRUE(cells_grid(claim, samples).empty());
}

TEST(ClaimsTally, DataThatIsHereLeavesOnlyTheRun) {
    const testing::TemporaryFolder here;
    const testing::EnvironmentVariable folder("ASSAY_DATA", here.path().string());
    const Registry all = registry();
    const std::vector<ClaimCheck> before = nothing_run(all);
    std::ofstream(here.path() / data::find("smartmoe-loads").file) << "any";
    // What was said of it before, and is stored, is not said again.
    const std::vector<ClaimCheck> now = on_this_machine(all, claims_of(all), before);
    EXPECT_EQ(check_of(now, "lazarus/fig8/traced-1").verdict, ClaimVerdict::not_run);
    EXPECT_THAT(check_of(now, "lazarus/fig8/traced-1").reason,
                HasSubstr("-a trace=smartmoe` checks it"));
    EXPECT_EQ(headline(tally(all, now)),
              "none of 7 claims checked; 2 not run, 1 needs the paper's cluster, 4 no command "
              "checks");
    const auto nothing = [](const std::string&) { return false; };
    EXPECT_EQ(headline(tally(all, on_this_machine(all, claims_of(all), now, nothing), nothing)),
              headline(tally(all, before, nothing)))
        << "the page that others read";
    std::vector<ClaimCheck> in_part = now;
    for (ClaimCheck& check : in_part)
        if (check.verdict == ClaimVerdict::not_run) check.reason = "lacks a point";
    EXPECT_EQ(
        check_of(on_this_machine(all, claims_of(all), in_part), "lazarus/fig8/traced-1").reason,
        "lacks a point")
        << "it knows more";
}

TEST(ClaimsTally, AClaimHasOneState) {
    Claim claim;
    ClaimCheck check;
    check.verdict = ClaimVerdict::not_checkable_here;
    const auto state = [&](std::vector<std::string> needs, const std::string& here) {
        claim.needs = std::move(needs);
        return state_name(state_of(claim, check, [&](const std::string& n) { return n == here; }));
    };
    EXPECT_EQ(state({}, ""), "no command");
    EXPECT_EQ(state({"trace:a"}, ""), "needs data");
    EXPECT_EQ(state({"trace:a", "gpu"}, ""), "needs data");
    EXPECT_EQ(state({"trace:a", "gpu"}, "trace:a"), "needs GPU");
    EXPECT_EQ(state({"gpu", "cluster"}, ""), "needs cluster");
    EXPECT_EQ(state({"gpu"}, "gpu"), "no command");
    check.verdict = ClaimVerdict::not_run;
    EXPECT_EQ(state({"gpu"}, ""), "not run");
}

TEST(Unchecked, ReasonsThatDifferInTheExperimentAreOne) {
    System system;
    system.id = "lte";
    std::vector<ClaimCheck> checks;
    const auto add = [&](const std::string& experiment, const std::string& why) {
        Claim claim;
        claim.id = fmt::format("{}/{}", experiment, checks.size());
        claim.experiment = experiment;
        claim.not_checkable = why;
        checks.push_back({claim.id, ClaimVerdict::not_checkable_here, why, {}, {}});
        system.claims.push_back(std::move(claim));
    };
    for (const char* experiment : {"lte/fig1", "lte/fig11", "lte/fig2"})
        add(experiment, fmt::format("given weights `assay run {}` does", experiment));
    add("lte/fig3", "no GLUE; see lte/fig1");
    add("lte/fig1", "no GLUE; see lte/fig1");
    Registry all;
    all.add(std::move(system));
    const std::vector<UncheckedClaims> groups = unchecked(all, checks);
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].count, 3U);
    EXPECT_EQ(groups[0].why, "given weights `assay run EXPERIMENT` does");
    EXPECT_EQ(groups[0].where, "lte/fig1, lte/fig11, lte/fig2");
    EXPECT_EQ(groups[1].why, "no GLUE; see lte/fig1") << "the same of every claim";
    EXPECT_EQ(groups[1].count, 2U);
    // With a row for each the reason stands once, too, and says of how many.
    const std::string rows = claims_rows(all, std::span(checks).first(3), 100);
    EXPECT_THAT(rows, HasSubstr("    For the 3 above: given weights `assay run EXPERIMENT` does"));
    EXPECT_THAT(claims_rows(all, std::span(checks).first(1), 100),
                HasSubstr("\n    given weights `assay run lte/fig1` does"));
    EXPECT_EQ(without_experiment("lte/fig11 lte/fig1, x/lte/fig1 lte/fig1_2", "lte/fig1"),
              "lte/fig11 EXPERIMENT, x/lte/fig1 lte/fig1_2");
}

/// Two claims about each, none of which was checked.
std::vector<UncheckedClaims> unchecked_of(const std::string& name,
                                          const std::vector<std::string>& experiments) {
    System system;
    system.id = name;
    for (const std::string& experiment : experiments)
        for (const char* id : {"/a", "/b"}) {
            Claim claim;
            claim.id = experiment + id;
            claim.experiment = experiment;
            claim.metric = "m";
            claim.test.name = "near";
            claim.value = 1;
            claim.checkable = {{"toy", "exact"}};
            system.claims.push_back(claim);
        }
    Registry all;
    all.add(std::move(system));
    std::vector<ClaimCheck> none;
    for (const Claim* claim : claims_of(all)) none.push_back(check(*claim, {}, {}));
    return unchecked(all, none);
}

TEST(Unchecked, WhatOnlyHasToBeRunComesFirstWithItsCommand) {
    const auto groups = unchecked_of("lazarus", {"lazarus/fig8", "lazarus/fig4"});
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].count, 4U);
    EXPECT_EQ(groups[0].why, "not run yet: `assay run lazarus/fig8 lazarus/fig4` checks them");
    EXPECT_EQ(groups[0].where, "lazarus/fig8 (2), lazarus/fig4 (2)");
}

TEST(Unchecked, TheCommandNamesAProvenanceThatIsNotTheDefault) {
    const auto told = [](const char* provenance) {
        System system;
        system.id = "lazarus";
        Experiment experiment = recovery_experiment();
        ProfilePlan toy;
        toy.provenances = {Provenance::exact, Provenance::emulated};
        experiment.profiles = {toy};
        Claim claim;
        claim.id = experiment.id + "/a";
        claim.experiment = experiment.id;
        claim.metric = "plan_seconds";
        claim.test.name = "near";
        claim.value = 1;
        claim.checkable = {{"toy", provenance}};
        system.claims = {claim};
        system.experiments = {experiment};
        Registry all;
        all.add(std::move(system));
        const std::vector<ClaimCheck> none{check(claim, {}, {})};
        return unchecked(all, none).at(0).why;
    };
    EXPECT_EQ(told("exact"), "not run yet: `assay run lazarus/fig8` checks it");
    EXPECT_EQ(told("emulated"), "not run yet: `assay run lazarus/fig8 --mode emulated` checks it");
}

TEST(Unchecked, OfManyExperimentsTheSystemIsNamedSinceNotAllAreReproducedUnasked) {
    const auto groups =
        unchecked_of("decode", {"decode/a", "decode/b", "decode/c", "decode/d", "decode/e"});
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].why, "not run yet: `assay reproduce decode` checks them");
}

}  // namespace
}  // namespace assay::report
