// The crossovers as the experiment records them, and the claims that ask for them.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "impls/dr_post_training/experiments/experiments.hpp"
#include "suite/base/error.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

SampleSpec spec(const std::string& model, std::int64_t tokens) {
    SampleSpec spec;
    spec.experiment = "dr_post_training/crossovers";
    spec.variant = "pip";
    spec.axes = {{"model", model}, {"tokens", tokens}};
    return spec;
}

std::vector<Observation> all_observations() {
    const Experiment experiment = crossovers();
    std::vector<Observation> observations;
    for (const Value& model : experiment.axis("model")->values)
        for (const Value& tokens : experiment.axis("tokens")->values) {
            const SampleSpec at = spec(to_string(model), std::get<std::int64_t>(tokens));
            experiment.validate(at);
            MemoryRecorder recorder;
            experiment.run(at, recorder);
            for (const auto& metric : recorder.metrics) {
                Observation o;
                o.experiment = at.experiment;
                o.variant = at.variant;
                o.axes = at.axes;
                o.metric = metric.name;
                o.labels = metric.labels;
                o.value = metric.value;
                observations.push_back(std::move(o));
            }
        }
    return observations;
}

TEST(DrCrossovers, ClaimsHold) {
    const auto observations = all_observations();
    int answered = 0;
    for (const Claim& claim :
         read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/dr_post_training.toml")) {
        if (claim.experiment != "dr_post_training/crossovers" || claim.metric.empty()) continue;
        EXPECT_EQ(claim.kind, ClaimKind::arithmetic) << claim.id;
        const ClaimCheck result = check(claim, observations, {});
        EXPECT_EQ(result.verdict, ClaimVerdict::supported) << claim.id << ": " << result.reason;
        ++answered;
    }
    EXPECT_EQ(answered, 16);
}

TEST(DrCrossovers, RefusesWhatItDoesNotKnow) {
    const Experiment experiment = crossovers();
    EXPECT_THROW(experiment.validate(spec("llama-4", 512)), UserError);
    EXPECT_THROW(experiment.validate(spec("qwen3-8b", 0)), UserError);
}

}  // namespace
}  // namespace assay::dr_post_training
