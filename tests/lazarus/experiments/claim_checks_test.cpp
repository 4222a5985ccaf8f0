// The checks of Lazarus' own: what they say with, and without, results; and the verdicts of
// datasets/claims/lazarus.toml on the exact experiments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

using testing::HasSubstr;

std::vector<Observation> observe(const Experiment& experiment, const std::string& variant,
                                 const Case& axes) {
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = variant;
    spec.axes = axes;
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    std::vector<Observation> observations;
    for (const auto& metric : recorder.metrics) {
        Observation o;
        o.experiment = experiment.id;
        o.variant = variant;
        o.axes = axes;
        o.metric = metric.name;
        o.labels = metric.labels;
        o.value = metric.value;
        observations.push_back(std::move(o));
    }
    return observations;
}

void append(std::vector<Observation>& to, const std::vector<Observation>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

Claim claim(const std::string& experiment) {
    Claim claim;
    claim.id = experiment + "/claim";
    claim.experiment = experiment;
    return claim;
}

ClaimCheck check(const char* name, const Claim& of, const std::vector<Observation>& observations) {
    return claim_checks().at(name)(of, observations);
}

TEST(LazarusClaimChecks, ReadNotRunWithoutResults) {
    for (const auto& [name, custom] : claim_checks()) {
        const ClaimCheck result = custom(claim("lazarus/some"), {});
        EXPECT_EQ(result.verdict, ClaimVerdict::not_run) << name;
        EXPECT_EQ(result.claim, "lazarus/some/claim");
        EXPECT_FALSE(result.obtained);
        EXPECT_THAT(result.reason, HasSubstr("assay run lazarus/some"));
    }
}

TEST(LazarusClaimChecks, CountTheInstancesWhereTheoremOneFails) {
    std::vector<Observation> observations = observe(x_theorem1(), "mro", {{"part", "all_small"}});
    ClaimCheck result = check("theorem1", claim("lazarus/x_theorem1"), observations);
    EXPECT_EQ(result.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_EQ(result.obtained, 0) << "the theorem does not hold";
    EXPECT_THAT(result.reason, HasSubstr("239 instances"));
    EXPECT_THAT(result.reason, HasSubstr("19 of these 19"));
    append(observations, observe(x_theorem1(), "mro", {{"part", "n3_c2_e3"}}));
    append(observations, observe(x_theorem1(), "spread", {{"part", "n3_c2_e3"}}));
    EXPECT_THAT(check("theorem1", claim("lazarus/x_theorem1"), observations).reason,
                HasSubstr("MRO 0.667, spread 1.000"));
}

TEST(LazarusClaimChecks, ShowTheSingleFailureThatKills) {
    std::vector<Observation> observations = observe(x_theorem1(), "mro", {{"part", "n5_c6_e13"}});
    EXPECT_EQ(check("fewer_than_f", claim("x"), observations).verdict, ClaimVerdict::not_run);
    append(observations, observe(x_theorem1(), "spread", {{"part", "n5_c6_e13"}}));
    const ClaimCheck result = check("fewer_than_f", claim("x"), observations);
    EXPECT_EQ(result.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_EQ(result.obtained, 0);
    EXPECT_THAT(result.reason, HasSubstr("0.800"));
}

TEST(LazarusClaimChecks, ExplainTheFortyOnePercent) {
    const Case synthetic = {{"model", "gpt-l"},
                            {"step", std::int64_t{200}},
                            {"order", "aligned"},
                            {"trace", "synthetic"}};
    std::vector<Observation> observations = observe(fig8(), "mro", synthetic);
    Claim of = claim("lazarus/fig8");
    of.value = 0.41;
    ClaimCheck result = check("fig8_41", of, observations);
    EXPECT_EQ(result.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_FALSE(result.obtained) << "no published data, no obtained value";
    EXPECT_THAT(result.reason, HasSubstr("synthetic trace"));
    EXPECT_THAT(result.reason, HasSubstr("129 of 210"));

    // As if the trace had been imported.
    for (Observation& o : observations) o.axes["trace"] = "smartmoe";
    result = check("fig8_41", of, observations);
    EXPECT_EQ(result.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_NEAR(result.obtained.value(), 129.0 / 210, 1e-12);
    for (Observation& o : observations) o.value = 0.41;
    EXPECT_EQ(check("fig8_41", of, observations).verdict, ClaimVerdict::supported);
}

const std::vector<Claim>& published() {
    static const auto claims =
        read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/lazarus.toml");
    return claims;
}

const Claim& published(std::string_view id) {
    const auto found = std::find_if(published().begin(), published().end(),
                                    [&](const Claim& claim) { return claim.id == id; });
    if (found == published().end()) throw std::out_of_range(std::string(id));
    return *found;
}

TEST(LazarusVerdicts, WhatWasRebuiltOrChosenToFitReadsCalibrated) {
    std::vector<Observation> observations;
    for (const char* variant : {"plan_a", "plan_b"})
        append(observations, observe(fig4(), variant, {}));
    for (const char* variant : {"case_1", "case_2"})
        append(observations, observe(fig5(), variant, {}));
    for (const char* variant : {"mro", "spread"})
        for (const std::int64_t ratio : {2, 4})
            for (const std::int64_t slots : {4, 6})
                append(observations,
                       observe(fig10b(), variant, {{"ratio", ratio}, {"slots", slots}}));
    const auto verdict = [&](std::string_view id) {
        return assay::check(published(id), observations, claim_checks());
    };
    for (const char* id : {"lazarus/fig4/plan-a", "lazarus/fig4/b-over-a", "lazarus/fig5/case-2",
                           "lazarus/fig5/case-2-probability", "lazarus/fig5/fewer-killing-sets",
                           "lazarus/fig10b/2to1/4-slots", "lazarus/fig10b/4to1/4-slots"}) {
        EXPECT_EQ(verdict(id).verdict, ClaimVerdict::calibrated) << id;
        EXPECT_THAT(verdict(id).reason,
                    testing::AnyOf(HasSubstr("; not evidence: plan A was rebuilt"),
                                   HasSubstr("; not evidence: case 2 was rebuilt"),
                                   HasSubstr("; not evidence: 4 slots")))
            << id;
    }
    // Computed from what the paper states, whatever comes out.
    for (const char* id : {"lazarus/fig4/plan-b", "lazarus/fig5/case-1",
                           "lazarus/fig5/case-1-probability", "lazarus/fig10b/4to1/6-slots"})
        EXPECT_EQ(verdict(id).verdict, ClaimVerdict::supported) << id;
    EXPECT_EQ(verdict("lazarus/fig10b/2to1/6-slots").verdict, ClaimVerdict::open_discrepancy);
}

// `counts`: so many sets of victims move so many states.
std::vector<Observation> victim_sets(const std::map<std::int64_t, double>& counts) {
    std::vector<Observation> observations;
    for (const auto& [transfers, sets] : counts) {
        Observation o;
        o.experiment = "lazarus/tab2";
        o.variant = "lazarus";
        o.axes = {{"model", "gpt-s"}, {"step", std::int64_t{200}}, {"trace", "smartmoe"}};
        o.metric = "victim_sets";
        o.labels = {{"transfers", transfers}};
        o.value = sets;
        observations.push_back(std::move(o));
    }
    return observations;
}

TEST(LazarusVerdicts, ATransferCountInATailIsContradictedThoughItLiesWithin) {
    const Claim& eleven = published("lazarus/tab2/gpt-s/200/experts");
    const auto judged = [&](const std::map<std::int64_t, double>& counts) {
        return assay::check(eleven, victim_sets(counts), claim_checks());
    };
    const ClaimCheck rare = judged({{0, 1}, {5, 98}, {11, 1}});
    EXPECT_EQ(rare.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(rare.obtained, 5);
    EXPECT_THAT(rare.reason, HasSubstr("1.0 % at least (0 to 11, median 5)"));
    EXPECT_THAT(rare.reason, HasSubstr("two-sided tail probability 0.020, below 0.05"));
    EXPECT_EQ(judged({{11, 1}, {15, 98}, {20, 1}}).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(judged({{0, 1}, {5, 96}, {11, 3}}).verdict, ClaimVerdict::supported)
        << "6 % two-sided";
    EXPECT_EQ(judged({{11, 7}}).verdict, ClaimVerdict::supported);
    EXPECT_THAT(judged({{11, 7}}).reason, HasSubstr("tail probability 1.000"));
    EXPECT_EQ(judged({{0, 50}, {10, 50}}).verdict, ClaimVerdict::contradicted)
        << "beyond all of them";
}

// One sample of Lazarus in fig9, with its restarts.
std::vector<Observation> restarts(const char* model, std::int64_t relaunch_s,
                                  const std::vector<double>& minutes, std::uint64_t seed = 1) {
    Observation o;
    o.experiment = "lazarus/fig9";
    o.variant = "lazarus";
    o.provenance = Provenance::emulated;
    o.axes = {{"model", model},
              {"relaunch_s", relaunch_s},
              {"trace", "smartmoe"},
              {"mapping", "delta_clamped"}};
    o.seed = seed;
    o.sample = std::string(model) + std::to_string(relaunch_s) + std::to_string(seed);
    o.metric = "restarts";
    o.value = static_cast<double>(minutes.size());
    std::vector<Observation> observations = {o};
    o.metric = "restart_min";
    for (std::size_t i = 0; i < minutes.size(); ++i) {
        o.labels = {{"event", static_cast<std::int64_t>(i)}};
        o.value = minutes[i];
        observations.push_back(o);
    }
    return observations;
}

TEST(LazarusVerdicts, TheMinuteOfTheRestartIsThatOfEveryRestart) {
    const Claim& at = published("lazarus/fig9/lazarus-restart-at");
    const auto judged = [&](std::vector<std::vector<Observation>> samples) {
        std::vector<Observation> all;
        for (const auto& sample : samples) append(all, sample);
        return assay::check(at, all, claim_checks());
    };
    const auto good = restarts("gpt-s", 60, {34.0});
    const ClaimCheck one = judged({good, restarts("gpt-s", 300, {34.2})});
    EXPECT_EQ(one.verdict, ClaimVerdict::calibrated);
    EXPECT_EQ(one.provenance, Provenance::emulated);
    EXPECT_EQ(one.obtained, 34.2);
    EXPECT_THAT(one.reason, HasSubstr("(seed 1 alone: points, no interval)"));
    EXPECT_THAT(one.reason, HasSubstr("delta_clamped was chosen"));

    const ClaimCheck later = judged({good, restarts("gpt-l", 300, {34.0, 51.0, 79.0})});
    EXPECT_EQ(later.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_EQ(later.obtained, 79);
    EXPECT_THAT(later.reason, HasSubstr("restarts at 34.0, 51.0, 79.0"));
    EXPECT_EQ(judged({good, restarts("gpt-s", 300, {})}).verdict, ClaimVerdict::open_discrepancy)
        << "a run without a restart shows none at minute 34";
    // A second seed does not outvote the first.
    EXPECT_EQ(judged({good, restarts("gpt-s", 300, {34}), restarts("gpt-s", 300, {34}, 2),
                      restarts("gpt-s", 300, {60}, 3)})
                  .verdict,
              ClaimVerdict::open_discrepancy);
    EXPECT_EQ(judged({good}).verdict, ClaimVerdict::not_checkable_here)
        << "one end of the assumption is missing, and the trace must be fetched";
}

}  // namespace
}  // namespace assay::lazarus
