// The verdicts of datasets/claims/lazarus.toml on the exact experiments, and Lazarus' own check.
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

ClaimCheck judged(std::string_view id, const std::vector<Observation>& observations) {
    return assay::check(published(id), observations, claim_checks());
}

TEST(LazarusVerdicts, TheoremOneIsRefutedByExhaustiveSearchAndExplained) {
    const Claim& optimal = published("lazarus/x_theorem1/optimal");
    std::vector<Observation> observations = observe(x_theorem1(), "mro", {{"part", "all_small"}});
    const ClaimCheck refuted = judged(optimal.id, observations);
    EXPECT_EQ(refuted.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(refuted.obtained, 19) << "instances with a better placement";
    EXPECT_TRUE(is_explained(optimal, refuted));
    double instances = 0;
    for (const Observation& o : observations) instances += o.value;
    EXPECT_EQ(instances, 239);

    // One instance more is another finding, which nothing explains.
    for (Observation& o : observations)
        if (o.value == 19) o.value = 20;
    const ClaimCheck more = judged(optimal.id, observations);
    EXPECT_EQ(more.verdict, ClaimVerdict::contradicted);
    EXPECT_FALSE(is_explained(optimal, more));
    for (Observation& o : observations)
        if (o.labels.at("outcome") == Value("suboptimal")) o.value = 0;
    EXPECT_EQ(judged(optimal.id, observations).verdict, ClaimVerdict::supported);
    // Two classes of three say nothing.
    std::erase_if(observations,
                  [](const Observation& o) { return o.labels.at("class") == Value("cut_group"); });
    EXPECT_EQ(judged(optimal.id, observations).verdict, ClaimVerdict::not_run);
}

TEST(LazarusVerdicts, ASingleFailureKills) {
    const Claim& claim = published("lazarus/x_theorem1/fewer-than-f");
    const Case part = {{"part", "n5_c6_e13"}};
    const ClaimCheck found = judged(claim.id, observe(x_theorem1(), "mro", part));
    EXPECT_EQ(found.verdict, ClaimVerdict::contradicted);
    EXPECT_NEAR(found.obtained.value(), 0.8, 1e-12);
    EXPECT_TRUE(is_explained(claim, found));
    EXPECT_EQ(judged(claim.id, observe(x_theorem1(), "spread", part)).verdict,
              ClaimVerdict::not_run)
        << "the statement is about overlap";
}

TEST(LazarusVerdicts, FortyOnePercentAreNotReached) {
    const Claim& claim = published("lazarus/fig8/gpt-l/200/mro-4");
    std::vector<Observation> observations = observe(fig8(), "mro",
                                                    {{"model", "gpt-l"},
                                                     {"step", std::int64_t{200}},
                                                     {"order", "aligned"},
                                                     {"trace", "synthetic"}});
    EXPECT_EQ(judged(claim.id, observations).verdict, ClaimVerdict::not_checkable_here)
        << "without published data";
    // As if the trace had been imported.
    for (Observation& o : observations) o.axes["trace"] = "smartmoe";
    const ClaimCheck found = judged(claim.id, observations);
    EXPECT_EQ(found.verdict, ClaimVerdict::contradicted);
    EXPECT_NEAR(found.obtained.value(), 129.0 / 210, 1e-12);
    EXPECT_TRUE(is_explained(claim, found));
    for (Observation& o : observations) o.value = 0.41;
    EXPECT_EQ(judged(claim.id, observations).verdict, ClaimVerdict::supported);
}

// What a fit determines is no evidence on either side of a comparison.
TEST(LazarusVerdicts, WhatIsComputedFromAChosenWalkReadsCalibrated) {
    std::vector<Observation> observations;
    for (const char* variant : {"mro", "spread"})
        append(observations, observe(fig8(), variant,
                                     {{"model", "gpt-l"},
                                      {"step", std::int64_t{200}},
                                      {"order", "aligned"},
                                      {"trace", "synthetic"}}));
    for (Observation& o : observations) o.axes["trace"] = "smartmoe";
    const ClaimCheck found = judged("lazarus/fig8/gpt-l/200/mro-over-spread-4", observations);
    EXPECT_EQ(found.verdict, ClaimVerdict::calibrated);
    EXPECT_THAT(found.reason, HasSubstr("walk the experts by index was chosen"));
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
    const auto verdict = [&](std::string_view id) { return judged(id, observations); };
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
    const ClaimCheck six = verdict("lazarus/fig10b/2to1/6-slots");
    EXPECT_EQ(six.verdict, ClaimVerdict::contradicted);
    EXPECT_TRUE(is_explained(published("lazarus/fig10b/2to1/6-slots"), six));
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
    const auto judged = [&](const std::map<std::int64_t, double>& counts) {
        return lazarus::judged("lazarus/tab2/gpt-s/200/experts", victim_sets(counts));
    };
    EXPECT_EQ(judged({}).verdict, ClaimVerdict::not_checkable_here) << "no results, no trace";
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
                                  const std::vector<double>& minutes, std::int64_t seed = 1) {
    Observation o;
    o.experiment = "lazarus/fig9";
    o.variant = "lazarus";
    o.provenance = Provenance::emulated;
    o.axes = {{"model", model},
              {"relaunch_s", relaunch_s},
              {"trace", "smartmoe"},
              {"mapping", "delta_clamped"}};
    o.seed = static_cast<std::uint64_t>(seed);
    o.sample = std::string(model) + std::to_string(relaunch_s) + std::to_string(seed);
    o.metric = "restart_min";
    std::vector<Observation> observations;
    for (std::size_t i = 0; i < minutes.size(); ++i) {
        o.labels = {{"event", static_cast<std::int64_t>(i)}, {"draw", seed}};
        o.value = minutes[i];
        observations.push_back(o);
    }
    return observations;
}

// Three models at both ends of the time to launch a job anew; those of GPT-S given.
std::vector<Observation> with_gpt_s(const std::vector<std::vector<Observation>>& of_gpt_s) {
    std::vector<Observation> all;
    for (const char* model : {"gpt-m", "gpt-l"})
        for (const std::int64_t relaunch_s : {60, 300})
            append(all, restarts(model, relaunch_s, {34}));
    for (const auto& sample : of_gpt_s) append(all, sample);
    return all;
}

TEST(LazarusVerdicts, TheMinuteOfTheRestartIsThatOfEveryRestart) {
    const Claim& at = published("lazarus/fig9/lazarus-restart-at");
    const auto judged = [&](const std::vector<std::vector<Observation>>& samples) {
        return lazarus::judged(at.id, with_gpt_s(samples));
    };
    const auto good = restarts("gpt-s", 60, {34.0});
    const ClaimCheck one = judged({good, restarts("gpt-s", 300, {34.2})});
    EXPECT_EQ(one.verdict, ClaimVerdict::calibrated);
    EXPECT_EQ(one.provenance, Provenance::emulated);
    EXPECT_EQ(one.obtained, 34.2);
    EXPECT_THAT(one.reason, HasSubstr("seed 1 alone"));
    EXPECT_THAT(one.reason, HasSubstr("delta_clamped was chosen"));

    const auto bad = restarts("gpt-s", 60, {34.0, 51.0, 79.0});
    const ClaimCheck later = judged({bad, restarts("gpt-s", 300, {34.0, 51.0, 79.0})});
    EXPECT_EQ(later.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(later.obtained, 79);
    EXPECT_TRUE(is_explained(at, later));
    EXPECT_EQ(judged({good, restarts("gpt-s", 300, {34, 51})}).verdict, ClaimVerdict::undecided)
        << "it hangs on what nobody published";
    const ClaimCheck none = judged({restarts("gpt-s", 60, {80}), restarts("gpt-s", 300, {80})});
    EXPECT_EQ(none.verdict, ClaimVerdict::contradicted)
        << "a run without a restart has its end there";
    // A second seed does not outvote the first.
    std::vector<std::vector<Observation>> seeds;
    for (const std::int64_t relaunch_s : {60, 300})
        for (const std::int64_t seed : {1, 2, 3})
            seeds.push_back(restarts("gpt-s", relaunch_s, {seed == 3 ? 60.0 : 34.0}, seed));
    EXPECT_EQ(judged(seeds).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(judged({good}).verdict, ClaimVerdict::undecided)
        << "one end of the assumption lacks a model";
}

}  // namespace
}  // namespace assay::lazarus
