// Verdicts beyond holding or not: where a claim is checkable, what it needs and assumes, what was
// fitted from it, explanations, reviews, custom checks, and the JSON that others read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "suite/claim/claim.hpp"

namespace {

using assay::Claim;
using assay::ClaimCheck;
using assay::ClaimVerdict;
using assay::Observation;
using assay::Profile;
using assay::Provenance;
using testing::HasSubstr;
using List = std::vector<Observation>;

Claim claim() {
    Claim made;
    made.id = "s/f/a";
    made.experiment = "s/f";
    made.says = "ten";
    made.metric = "m";
    made.test.name = "near";
    made.value = 10;
    made.absolute = 1;
    made.unit = "s";
    made.source = "page 1";
    made.checkable = {{"toy", "emulated"}, {"paper", "simulated"}};
    return made;
}

Observation seen(double value, Profile profile = Profile::toy,
                 Provenance provenance = Provenance::emulated, assay::Case axes = {}) {
    Observation made;
    made.experiment = "s/f";
    made.variant = "v";
    made.metric = "m";
    made.value = value;
    made.profile = profile;
    made.provenance = provenance;
    made.axes = std::move(axes);
    made.seed = 1;
    return made;
}

ClaimCheck checked(const Claim& claim, const List& observations) {
    return check(claim, observations, {});
}

}  // namespace

TEST(ClaimJudgement, NothingRunNamesTheCommand) {
    const ClaimCheck none = checked(claim(), {});
    EXPECT_EQ(none.verdict, ClaimVerdict::not_run);
    EXPECT_EQ(none.reason, "`assay run s/f --profile toy --mode emulated` checks it");
    EXPECT_EQ(none.obtained, std::nullopt);
    EXPECT_EQ(none.provenance, std::nullopt);
    Observation other = seen(10);
    other.experiment = "s/g";
    EXPECT_EQ(checked(claim(), {other}).verdict, ClaimVerdict::not_run);
    Observation other_metric = seen(10);
    other_metric.metric = "n";
    const ClaimCheck part = checked(claim(), {other_metric});
    EXPECT_EQ(part.verdict, ClaimVerdict::not_run);
    EXPECT_EQ(part.reason.rfind("what was run lacks a point that it is about; `assay run", 0), 0u);
}

TEST(ClaimJudgement, OnlyTheNamedProfileAndProvenanceCount) {
    const ClaimCheck measured = checked(claim(), {seen(10, Profile::toy, Provenance::measured)});
    EXPECT_EQ(measured.verdict, ClaimVerdict::not_run) << "a command checks it";
    EXPECT_EQ(measured.reason,
              "checkable only at profile paper (simulated), toy (emulated), and something else was "
              "run; `assay run s/f --profile toy --mode emulated` checks it");
    EXPECT_EQ(checked(claim(), {seen(10, Profile::small)}).verdict, ClaimVerdict::not_run);
}

TEST(ClaimJudgement, TheLargestProfileThatHasTheAnswerCounts) {
    const List both{seen(50), seen(10, Profile::paper, Provenance::simulated)};
    const ClaimCheck check = checked(claim(), both);
    EXPECT_EQ(check.verdict, ClaimVerdict::supported);
    EXPECT_EQ(check.provenance, Provenance::simulated);
    Claim narrowed = claim();
    narrowed.of.where = {{"k", std::int64_t{1}}};
    const ClaimCheck smaller = checked(
        narrowed, {seen(10, Profile::toy, Provenance::emulated, {{"k", std::int64_t{1}}}),
                   seen(10, Profile::paper, Provenance::simulated, {{"k", std::int64_t{2}}})});
    EXPECT_EQ(smaller.provenance, Provenance::emulated);
}

TEST(ClaimJudgement, UnmetNeedsSayWhatToFetch) {
    Claim needy = claim();
    needy.needs = {"trace:smartmoe"};
    needy.of.where = {{"trace", std::string("smartmoe")}};
    const ClaimCheck none = checked(needy, {});
    EXPECT_EQ(none.verdict, ClaimVerdict::not_checkable_here);
    EXPECT_EQ(none.reason,
              "needs the trace 'smartmoe' (`assay data list` says where it comes from and how to "
              "get it); "
              "then `assay run s/f --profile toy --mode emulated -a trace=smartmoe` checks it");
    const auto with_trace = [](const char* trace) {
        return List{seen(10, Profile::toy, Provenance::emulated, {{"trace", std::string(trace)}})};
    };
    EXPECT_EQ(checked(needy, with_trace("synthetic")).verdict, ClaimVerdict::not_checkable_here);
    EXPECT_EQ(checked(needy, with_trace("smartmoe")).verdict, ClaimVerdict::supported);
    needy.of.where.clear();
    EXPECT_EQ(checked(needy, with_trace("synthetic")).verdict, ClaimVerdict::not_checkable_here)
        << "a substitute does not count even when the check forgets to exclude it";
}

TEST(ClaimJudgement, WithAllThatItNeedsHereOnlyTheRunIsMissing) {
    Claim needy = claim();
    needy.needs = {"trace:smartmoe", "gpu"};
    const auto at = [&](std::vector<std::string> things, const List& seen) {
        return check(needy, seen, {}, [things](const std::string& need) {
            return std::find(things.begin(), things.end(), need) != things.end();
        });
    };
    EXPECT_EQ(at({"trace:smartmoe", "gpu"}, {}).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(at({"trace:smartmoe", "gpu"}, {}).reason,
              "`assay run s/f --profile toy --mode emulated` checks it");
    EXPECT_EQ(at({"trace:smartmoe"}, {}).verdict, ClaimVerdict::not_checkable_here);
    EXPECT_EQ(at({"trace:smartmoe"}, {}).reason.rfind("needs a GPU; then", 0), 0u)
        << "what is here is not asked for";
    // The axis was narrowed to a substitute.
    const List substitute{
        seen(10, Profile::toy, Provenance::emulated, {{"trace", std::string("synthetic")}})};
    const ClaimCheck narrowed = at({"trace:smartmoe", "gpu"}, substitute);
    EXPECT_EQ(narrowed.verdict, ClaimVerdict::not_run);
    EXPECT_EQ(narrowed.reason.rfind("what was run lacks a point that it is about; `assay", 0), 0u);
}

TEST(ClaimJudgement, WhatCannotBeAskedByMachine) {
    Claim mute = claim();
    mute.metric.clear();
    mute.test.name.clear();
    EXPECT_EQ(checked(mute, {seen(10)}).verdict, ClaimVerdict::not_checkable_here);
    EXPECT_EQ(checked(mute, {}).verdict, ClaimVerdict::not_checkable_here);
    Claim never = claim();
    never.not_checkable = "needs 16 GPUs";
    EXPECT_EQ(checked(never, {seen(10)}).verdict, ClaimVerdict::not_checkable_here);
    EXPECT_EQ(checked(never, {seen(10)}).reason, "needs 16 GPUs");
    Claim nowhere = claim();
    nowhere.checkable.clear();
    EXPECT_EQ(checked(nowhere, {seen(10)}).verdict, ClaimVerdict::not_checkable_here);
}

TEST(ClaimJudgement, AssumptionsMustHoldAtBothEnds) {
    Claim assuming = claim();
    assuming.assumes = {{"restart_s", {60.0, 300.0}}};
    const auto at = [](double restart, double value) {
        return seen(value, Profile::toy, Provenance::emulated, {{"restart_s", restart}});
    };
    EXPECT_EQ(checked(assuming, {at(60, 10), at(300, 10.5)}).verdict, ClaimVerdict::supported);
    const ClaimCheck one_end = checked(assuming, {at(60, 10), at(300, 20), at(100, 99)});
    EXPECT_EQ(one_end.verdict, ClaimVerdict::undecided) << "holds at one end, fails at the other";
    EXPECT_EQ(one_end.obtained, 20);
    EXPECT_EQ(
        one_end.reason,
        "assuming restart_s=60.0: m of v is 10 (1 sample, seed 1 alone: a point, no "
        "interval); claimed is 10 ± 1; assuming restart_s=300.0: m of v is 20 (1 sample, seed "
        "1 alone: a point, no interval); claimed is 10 ± 1");
    EXPECT_EQ(checked(assuming, {at(60, 20), at(300, 20)}).verdict, ClaimVerdict::contradicted);
    for (const double value : {10, 20}) {
        const ClaimCheck alone = checked(assuming, {at(60, value)});
        EXPECT_EQ(alone.verdict, ClaimVerdict::undecided) << "one end alone decides nothing";
        EXPECT_THAT(alone.reason, HasSubstr("; was not run at restart_s=300.0"));
    }
    EXPECT_EQ(checked(assuming, {seen(10)}).verdict, ClaimVerdict::not_run)
        << "the assumption must be named";
}

TEST(ClaimJudgement, TheBasisNamesTheEndsAsData) {
    Claim assuming = claim();
    assuming.assumes = {{"restart_s", {60.0, 300.0}}};
    const auto at = [](double restart, double value) {
        return seen(value, Profile::toy, Provenance::emulated, {{"restart_s", restart}});
    };
    const auto ends = [](double restart) {
        return std::vector<assay::Case>{{{"restart_s", restart}}};
    };
    const auto mixed = checked(assuming, {at(60, 10), at(300, 20)}).basis;
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->holds_at, ends(60));
    EXPECT_EQ(mixed->fails_at, ends(300));
    EXPECT_TRUE(mixed->not_run_at.empty());
    EXPECT_EQ(checked(assuming, {at(60, 10)}).basis->not_run_at, ends(300));
    EXPECT_EQ(checked(claim(), {seen(10)}).basis->holds_at, std::vector<assay::Case>(1));
    EXPECT_FALSE(checked(claim(), {}).basis) << "nothing speaks for or against it";
}

TEST(ClaimJudgement, TwoAssumptionsAreCheckedAtAllFourCorners) {
    Claim assuming = claim();
    assuming.assumes = {{"a", {1.0, 2.0}}, {"b", {3.0, 4.0}}};
    List corners;
    for (const double a : {1.0, 2.0})
        for (const double b : {3.0, 4.0})
            corners.push_back(seen(10, Profile::toy, Provenance::emulated, {{"a", a}, {"b", b}}));
    EXPECT_EQ(checked(assuming, corners).verdict, ClaimVerdict::supported);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        List spoilt = corners;
        spoilt[i].value = 20;
        EXPECT_EQ(checked(assuming, spoilt).verdict, ClaimVerdict::undecided) << i;
        spoilt.erase(spoilt.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_EQ(checked(assuming, spoilt).verdict, ClaimVerdict::undecided) << i;
    }
}

// Nobody reads eight sentences: how often it holds, between what, and where it is worst.
TEST(ClaimJudgement, ManyCornersAreSummedUp) {
    Claim assuming = claim();
    assuming.assumes = {{"a", {1.0, 2.0}}, {"b", {3.0, 4.0}}, {"c", {5.0, 6.0}}};
    List corners;
    for (const double a : {1.0, 2.0})
        for (const double b : {3.0, 4.0})
            for (const double c : {5.0, 6.0})
                corners.push_back(
                    seen(10, Profile::toy, Provenance::emulated, {{"a", a}, {"b", b}, {"c", c}}));
    EXPECT_EQ(checked(assuming, corners).verdict, ClaimVerdict::supported);
    corners[1].value = 12;
    corners[6].value = 20;
    const ClaimCheck check = checked(assuming, corners);
    EXPECT_EQ(check.verdict, ClaimVerdict::undecided);
    EXPECT_EQ(check.obtained, 20);
    EXPECT_EQ(check.reason,
              "holds at 6 of the 8 ends of a, b, c (10 to 20); the least favourable, a=2.0 b=4.0 "
              "c=5.0: m of v is 20 (1 sample, seed 1 alone: a point, no interval); claimed is 10 "
              "± 1");
    corners.pop_back();
    EXPECT_EQ(checked(assuming, corners).verdict, ClaimVerdict::undecided);
}

// What a larger profile knows more, a smaller one need not.
TEST(ClaimJudgement, AProfileMayBeAskedForMore) {
    Claim asking = claim();
    asking.checkable["paper"] = "simulated";
    asking.at["paper"] = {.metric = "m_at_ends", .assumes = {{"a", {1.0, 2.0}}}};
    const auto end = [](double a, double value) {
        Observation made = seen(value, Profile::paper, Provenance::simulated, {{"a", a}});
        made.metric = "m_at_ends";
        return made;
    };
    EXPECT_EQ(checked(asking, {seen(10)}).verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked(asking, {seen(10), end(1, 20), end(2, 20)}).verdict,
              ClaimVerdict::contradicted);
    const ClaimCheck half = checked(asking, {seen(10), end(1, 20)});
    EXPECT_EQ(half.verdict, ClaimVerdict::supported) << "the other end has not been run";
    EXPECT_EQ(half.provenance, Provenance::emulated);
}

TEST(ClaimJudgement, WhatAFitDeterminesIsNoEvidence) {
    Claim fitted = claim();
    fitted.fits = {{.of = "s/f/", .because = "the plan was rebuilt from this text"}};
    const ClaimCheck check = checked(fitted, {seen(10)});
    EXPECT_EQ(check.verdict, ClaimVerdict::calibrated);
    EXPECT_EQ(check.reason,
              "m of v is 10 (1 sample, seed 1 alone: a point, no interval); claimed is 10 ± 1; not "
              "evidence: the plan was rebuilt from this text");
    EXPECT_EQ(checked(fitted, {seen(20)}).verdict, ClaimVerdict::contradicted);
}

// By what it determines, not by what the claim is called.
TEST(ClaimJudgement, AFitReachesItsVariantsPlacesAndMetrics) {
    Claim ratio = claim();
    ratio.of.variant = "v";
    ratio.over = assay::Selector{"w", {}};
    const auto pair = [](std::int64_t panel) {
        List both{seen(10, Profile::toy, Provenance::emulated, {{"panel", panel}}),
                  seen(1, Profile::toy, Provenance::emulated, {{"panel", panel}})};
        both[1].variant = "w";
        return both;
    };
    const auto verdict = [&](assay::Fit fit, std::int64_t panel) {
        fit.because = "solved";
        ratio.fits = {std::move(fit)};
        return checked(ratio, pair(panel)).verdict;
    };
    const std::map<std::string, std::vector<assay::Value>> panels{
        {"panel", {std::int64_t{1}, std::int64_t{2}}}};
    EXPECT_EQ(verdict({.of = "s/", .variants = {"w"}, .where = panels}, 2),
              ClaimVerdict::calibrated)
        << "the other side of the ratio is enough";
    EXPECT_EQ(verdict({.of = "s/", .variants = {"w"}, .where = panels}, 3),
              ClaimVerdict::supported);
    EXPECT_EQ(verdict({.of = "s/", .variants = {"x"}}, 1), ClaimVerdict::supported);
    EXPECT_EQ(verdict({.of = "s/", .metrics = {"n"}}, 1), ClaimVerdict::supported);
    EXPECT_EQ(verdict({.of = "s/", .metrics = {"m"}}, 1), ClaimVerdict::calibrated);
    EXPECT_EQ(verdict({.of = "s/g/"}, 1), ClaimVerdict::supported);
}

// README.md of the claim files, `Verdicts`.
TEST(ClaimJudgement, WhatFollowsOfAllChoicesAndOfFits) {
    Claim assuming = claim();
    assuming.assumes = {{"calibration", {std::string("fitted"), std::string("own")}}};
    assuming.fits = {
        {.of = "s/f/", .where = {{"calibration", {std::string("fitted")}}}, .because = "solved"}};
    const auto verdict = [&](double fitted, double own) {
        List list;
        for (const auto& [name, value] : {std::pair("fitted", fitted), std::pair("own", own)})
            if (value > 0)
                list.push_back(seen(value, Profile::toy, Provenance::emulated,
                                    {{"calibration", std::string(name)}}));
        return checked(assuming, list).verdict;
    };
    EXPECT_EQ(verdict(10, 10), ClaimVerdict::supported) << "at one without a fit";
    EXPECT_EQ(verdict(10, 20), ClaimVerdict::calibrated);
    EXPECT_EQ(checked(assuming, {seen(10.5, Profile::toy, Provenance::emulated,
                                      {{"calibration", std::string("fitted")}}),
                                 seen(20, Profile::toy, Provenance::emulated,
                                      {{"calibration", std::string("own")}})})
                  .obtained,
              10.5)
        << "of the end that holds";
    EXPECT_EQ(verdict(20, 10), ClaimVerdict::undecided);
    EXPECT_EQ(verdict(20, 20), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(10, 0), ClaimVerdict::undecided) << "one was not run";
    EXPECT_EQ(verdict(0, 20), ClaimVerdict::undecided) << "one was not run";
    EXPECT_EQ(verdict(0, 0), ClaimVerdict::not_run);
    assuming.assumes["calibration"].pop_back();
    EXPECT_EQ(verdict(10, 0), ClaimVerdict::calibrated) << "there is no other";
}

TEST(ClaimJudgement, AProfileFittedToTheStatementMakesItNoEvidence) {
    const auto fitted_from = [](std::vector<std::string> ids, double value = 10) {
        Observation observation = seen(value);
        observation.fitted_from = std::move(ids);
        return observation;
    };
    const ClaimCheck check = checked(claim(), {fitted_from({"s/f/other", "s/f/a"})});
    EXPECT_EQ(check.verdict, ClaimVerdict::calibrated);
    EXPECT_THAT(check.reason, HasSubstr("; not evidence: the profile that the cost model used was "
                                        "fitted to this very statement"));
    EXPECT_EQ(checked(claim(), {fitted_from({"s/f/a"}, 20)}).verdict, ClaimVerdict::contradicted)
        << "that it does not even come out then is a finding";
    EXPECT_EQ(checked(claim(), {fitted_from({"s/f/other", "s/f/a/b"})}).verdict,
              ClaimVerdict::supported)
        << "fitted to other statements";
}

TEST(ClaimJudgement, ASingleSeedIsNamedUnlessTheNumbersAreExact) {
    const auto reason = [](const List& observations) {
        Claim any = claim();
        any.checkable = {{"toy", std::string(to_string(observations.front().provenance))}};
        any.over = observations.size() > 2 ? std::optional(assay::Selector{"w", {}}) : std::nullopt;
        any.of.variant = "v";
        return checked(any, observations).reason;
    };
    const auto of_seed = [](double value, std::uint64_t seed, const char* variant = "v") {
        Observation made = seen(value);
        made.seed = seed;
        made.variant = variant;
        return made;
    };
    EXPECT_THAT(reason({of_seed(10, 7)}),
                HasSubstr("(1 sample, seed 7 alone: a point, no interval)"));
    EXPECT_THAT(reason({of_seed(10, 7), of_seed(11, 7)}),
                HasSubstr("(median of 2 samples, 10 … 11, all of seed 7)"));
    EXPECT_THAT(reason({of_seed(10, 7), of_seed(11, 8)}),
                HasSubstr("(median of 2 samples, 10 … 11)"));
    // Of a ratio the pair counts, whatever else one of its sides has.
    EXPECT_THAT(reason({of_seed(10, 7), of_seed(1, 7, "w"), of_seed(2, 8, "w")}),
                HasSubstr("(1 pair, seed 7 alone: a point, no interval)"));
    EXPECT_THAT(reason({seen(10, Profile::toy, Provenance::exact)}), HasSubstr("(1 sample);"));
}

TEST(ClaimJudgement, AnExplanationIsOfItsValueAndChangesNoVerdict) {
    Claim known = claim();
    known.explained = {"The order of nodes is not published.", 20, 0.5};
    const auto explained = [&](double value) {
        const ClaimCheck check = checked(known, {seen(value)});
        EXPECT_EQ(check.verdict, checked(claim(), {seen(value)}).verdict);
        EXPECT_EQ(check.reason, checked(claim(), {seen(value)}).reason);
        return is_explained(known, check);
    };
    EXPECT_TRUE(explained(20));
    EXPECT_TRUE(explained(20.5));
    EXPECT_FALSE(explained(20.6));
    EXPECT_FALSE(explained(5));
    EXPECT_FALSE(explained(10)) << "it holds";
    EXPECT_FALSE(is_explained(known, checked(known, {})));
}

TEST(ClaimJudgement, AReviewOnlyTakesAVerdictBack) {
    Claim open = claim();
    open.review = "recipe under review";
    for (const double value : {10, 20}) {
        const ClaimCheck check = checked(open, {seen(value)});
        EXPECT_EQ(check.verdict, ClaimVerdict::undecided);
        EXPECT_EQ(check.reason.rfind("recipe under review: m of v is", 0), 0u);
    }
    EXPECT_EQ(checked(open, {}).verdict, ClaimVerdict::not_run);
    open.fits = {{.of = "s/", .because = "solved"}};
    EXPECT_EQ(checked(open, {seen(10)}).verdict, ClaimVerdict::calibrated);
}

TEST(ClaimJudgement, CustomChecksSeeTheChosenObservationsAndAreJudgedAlike) {
    Claim custom = claim();
    custom.test.name = "custom:mine";
    custom.metric.clear();
    std::size_t given = 0;
    ClaimVerdict answer = ClaimVerdict::contradicted;
    const std::map<std::string, assay::CustomCheck, std::less<>> checks{
        {"mine", [&](const Claim&, std::span<const Observation> observations) {
             given = observations.size();
             ClaimCheck result;
             result.verdict = answer;
             result.reason = "counted";
             return result;
         }}};
    const List list{seen(1), seen(2), seen(3, Profile::toy, Provenance::exact)};
    const ClaimCheck open = check(custom, list, checks);
    EXPECT_EQ(given, 2u);
    EXPECT_EQ(open.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(open.reason, "counted");
    EXPECT_EQ(open.claim, "s/f/a");
    EXPECT_EQ(open.provenance, Provenance::emulated);
    answer = ClaimVerdict::supported;
    EXPECT_EQ(check(custom, list, checks).verdict, ClaimVerdict::supported);
    answer = ClaimVerdict::not_run;
    EXPECT_EQ(check(custom, list, checks).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(check(custom, {}, checks).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(check(custom, list, {}).verdict, ClaimVerdict::not_checkable_here);
}

TEST(ClaimJson, HasExactlyTheseKeysAndNullsWhereThereIsNothing) {
    const Claim known = claim();
    EXPECT_EQ(
        assay::to_json(known, checked(known, {seen(9.5)})).dump(),
        R"({"cells":[],"command":"assay run s/f --profile toy --mode emulated","evidence":null,"experiment":"s/f",)"
        R"("explained":null,"headline":false,"id":"s/f/a","kind":"claim","needs":[],"obtained":9.5,"provenance":"emulated","reason":"m of v )"
        R"(is 9.5 (1 sample, seed 1 alone: a point, no interval); claimed is 10 ± 1","says":"ten",)"
        R"("source":"page 1","unit":"s",)"
        R"("value":10.0,"verdict":"supported"})");
    Claim bare = claim();
    bare.value.reset();
    bare.metric.clear();
    const nlohmann::json json = assay::to_json(bare, checked(bare, {}));
    EXPECT_EQ(json.size(), 17u);
    for (const char* key : {"value", "obtained", "provenance", "explained", "evidence"})
        EXPECT_TRUE(json.at(key).is_null()) << key;
    Claim told = claim();
    told.explained = {"Slow.", 20, 1};
    told.cells = {{"layer", "k=1", 4.5}};
    told.evidence = assay::Evidence::digest;
    const nlohmann::json full = assay::to_json(told, checked(told, {seen(20)}));
    EXPECT_EQ(full.at("explained").dump(),
              R"({"because":"Slow.","holds":true,"obtained":20.0,"within":1.0})");
    EXPECT_EQ(full.at("evidence"), "digest");
    EXPECT_EQ(full.at("cells").dump(), R"([["layer","k=1",4.5]])");
    EXPECT_EQ(assay::to_json(told, checked(told, {seen(30)})).at("explained").at("holds"), false);
    bare.checkable.clear();
    EXPECT_TRUE(assay::to_json(bare, checked(bare, {})).at("command").is_null());
    EXPECT_EQ(json.at("verdict"), "not checkable here");
}
