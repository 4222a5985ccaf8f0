// Table 1 as the experiment records it.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "impls/lte/experiments/experiments.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

SampleSpec spec(const std::string& variant, const std::string& dataset) {
    SampleSpec spec;
    spec.experiment = "lte/tab1";
    spec.variant = variant;
    spec.axes = {{"dataset", dataset}};
    return spec;
}

double metric(const std::string& name, const std::string& variant, const std::string& dataset,
              const Labels& labels = {}) {
    MemoryRecorder recorder;
    tab1().run(spec(variant, dataset), recorder);
    for (const auto& each : recorder.metrics)
        if (each.name == name && each.labels == labels) return each.value;
    throw std::out_of_range(name);
}

TEST(LteTable1, ImpliedSparsities) {
    // Worked out by hand from the printed FLOPs, three digits each.
    EXPECT_NEAR(metric("ffn_sparsity", "deja_vu", "xsum"), 0.514, 0.0005);
    EXPECT_NEAR(metric("ffn_sparsity", "deja_vu", "e2e"), 0.70, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "moefication", "xsum"), 0.20, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "relullama_moefication", "xsum"), 0.47, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "relullama_moefication", "e2e"), 0.58, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "relullama_moefication", "wikitext103"), 0.12, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "lte", "xsum"), 0.84, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "lte", "e2e"), 0.93, 0.005);
    EXPECT_NEAR(metric("ffn_sparsity", "lte", "wikitext103"), 0.69, 0.005);
    EXPECT_EQ(metric("ffn_sparsity", "full", "xsum"), 0);
}

TEST(LteTable1, RatiosAndParts) {
    EXPECT_NEAR(metric("ratio", "lte", "xsum"), 2.24, 0.005);
    EXPECT_NEAR(metric("ratio", "lte", "e2e"), 2.59, 0.005);
    EXPECT_NEAR(metric("ratio", "lte", "wikitext103"), 1.83, 0.005);
    EXPECT_EQ(metric("gflops", "full", "e2e"), 12.0625);
    EXPECT_EQ(metric("part_gflops", "full", "e2e", {{"part", "attention"}}), 4);
    EXPECT_EQ(metric("part_gflops", "full", "e2e", {{"part", "router"}}), 0);
    double shares = 0;
    for (const char* part : {"ffn", "attention", "router"})
        shares += metric("part_share", "lte", "xsum", {{"part", part}});
    EXPECT_NEAR(shares, 1, 1e-12);
}

TEST(LteTable1, CellsThatAreNotInTheTableAreRefused) {
    const Experiment experiment = tab1();
    EXPECT_TRUE(experiment.unsupported(spec("moefication", "e2e")));
    EXPECT_TRUE(experiment.unsupported(spec("moefication", "wikitext103")));
    EXPECT_FALSE(experiment.unsupported(spec("moefication", "xsum")));
    EXPECT_FALSE(experiment.unsupported(spec("full", "e2e")));
}

std::vector<Observation> whole_table() {
    const Experiment experiment = tab1();
    std::vector<Observation> observations;
    for (const std::string& variant : experiment.variants)
        for (const Value& dataset : experiment.axes.front().values) {
            const SampleSpec at = spec(variant, to_string(dataset));
            if (experiment.unsupported(at)) continue;
            MemoryRecorder recorder;
            experiment.run(at, recorder);
            for (const auto& metric : recorder.metrics) {
                Observation o;
                o.experiment = at.experiment;
                o.variant = variant;
                o.axes = at.axes;
                o.metric = metric.name;
                o.labels = metric.labels;
                o.value = metric.value;
                observations.push_back(std::move(o));
            }
        }
    return observations;
}

TEST(LteTable1, ClaimsHoldAndWhatWasFittedReadsCalibrated) {
    const auto observations = whole_table();
    int answered = 0;
    for (const Claim& claim :
         read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/lte.toml")) {
        if (claim.experiment != "lte/tab1" || claim.test.name.empty()) continue;
        const ClaimCheck result = check(claim, observations, {});
        const bool printed = claim.id != "lte/tab1/full" && claim.id != "lte/tab1/router-cost";
        EXPECT_EQ(result.verdict, printed ? ClaimVerdict::calibrated : ClaimVerdict::supported)
            << claim.id << ": " << result.reason;
        ++answered;
    }
    EXPECT_EQ(answered, 18);
}

}  // namespace
}  // namespace assay::lte
