// The checks of the known discrepancies: what they say with, and without, results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "impls/lazarus/experiments/claim_checks.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/experiment/memory_recorder.hpp"

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
        EXPECT_EQ(result.verdict, Verdict::not_run) << name;
        EXPECT_EQ(result.claim, "lazarus/some/claim");
        EXPECT_FALSE(result.obtained);
        EXPECT_THAT(result.reason, HasSubstr("assay run lazarus/some"));
    }
}

TEST(LazarusClaimChecks, CountTheInstancesWhereTheoremOneFails) {
    std::vector<Observation> observations = observe(x_theorem1(), "mro", {{"part", "all_small"}});
    ClaimCheck result = check("theorem1", claim("lazarus/x_theorem1"), observations);
    EXPECT_EQ(result.verdict, Verdict::open_discrepancy);
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
    EXPECT_EQ(check("fewer_than_f", claim("x"), observations).verdict, Verdict::not_run);
    append(observations, observe(x_theorem1(), "spread", {{"part", "n5_c6_e13"}}));
    const ClaimCheck result = check("fewer_than_f", claim("x"), observations);
    EXPECT_EQ(result.verdict, Verdict::open_discrepancy);
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
    EXPECT_EQ(result.verdict, Verdict::open_discrepancy);
    EXPECT_FALSE(result.obtained) << "no published data, no obtained value";
    EXPECT_THAT(result.reason, HasSubstr("synthetic trace"));
    EXPECT_THAT(result.reason, HasSubstr("129 of 210"));

    // As if the trace had been imported.
    for (Observation& o : observations) o.axes["trace"] = "smartmoe";
    result = check("fig8_41", of, observations);
    EXPECT_EQ(result.verdict, Verdict::open_discrepancy);
    EXPECT_NEAR(result.obtained.value(), 129.0 / 210, 1e-12);
    for (Observation& o : observations) o.value = 0.41;
    EXPECT_EQ(check("fig8_41", of, observations).verdict, Verdict::supported);
}

}  // namespace
}  // namespace assay::lazarus
