// Table 2, exact: how many sets of victims move how many expert states, and where the paper's
// counts lie among them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/lazarus/experiments/published_trace.hpp"

namespace assay::lazarus {
namespace {

Case row(const char* model, std::int64_t step, const char* trace) {
    return {{"model", model}, {"step", step}, {"trace", trace}};
}

MemoryRecorder run(const Case& axes) {
    const Experiment experiment = tab2();
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = "lazarus";
    spec.axes = axes;
    spec.provenance = Provenance::exact;
    spec.seed = 1;
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder;
}

TEST(LazarusTable2, CountsEverySetOfVictimsOnce) {
    const MemoryRecorder found = run(row("gpt-s", 4000, "synthetic"));
    const auto over_sets = [&](const char* which) {
        return found.value("transfers", {{"over_sets", std::string(which)}});
    };
    const auto loss_sets = [&](const char* kind) {
        return found.value("loss_sets", {{"kind", std::string(kind)}});
    };
    std::map<std::int64_t, double> sets;
    for (const auto& metric : found.metrics)
        if (metric.name == "victim_sets")
            sets[std::get<std::int64_t>(metric.labels.at("transfers"))] = metric.value;
    ASSERT_FALSE(sets.empty());
    double all = 0;
    for (const auto& [transfers, count] : sets) all += count;
    EXPECT_EQ(all, loss_sets("recoverable"));
    EXPECT_EQ(all + loss_sets("unrecoverable"), 120) << "three of ten nodes";
    EXPECT_EQ(static_cast<double>(sets.begin()->first), over_sets("min"));
    EXPECT_EQ(static_cast<double>(sets.rbegin()->first), over_sets("max"));
}

TEST(LazarusTable2, DeclaresWhatItRecords) {
    const Experiment experiment = tab2();
    for (const auto& metric : run(row("gpt-s", 200, "synthetic")).metrics) {
        const MetricSpec* declared = experiment.metric(metric.name);
        ASSERT_NE(declared, nullptr) << metric.name;
        for (const auto& [label, value] : metric.labels)
            EXPECT_THAT(declared->labels, testing::Contains(label)) << metric.name;
    }
}

TEST(LazarusTable2, VerdictsOnThePublishedTrace) {
    if (!find_published_trace()) GTEST_SKIP() << published_trace_wanted;
    std::vector<Observation> observations;
    for (const char* model : {"gpt-s", "gpt-l"})
        for (const std::int64_t step : {200, 4000}) {
            const Case axes = row(model, step, "smartmoe");
            for (const auto& metric : run(axes).metrics) {
                Observation o;
                o.experiment = "lazarus/tab2";
                o.variant = "lazarus";
                o.axes = axes;
                o.metric = metric.name;
                o.labels = metric.labels;
                o.value = metric.value;
                observations.push_back(std::move(o));
            }
        }
    std::map<std::string, ClaimVerdict> verdicts;
    for (const Claim& claim :
         read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/lazarus.toml"))
        if (claim.test.name == "custom:tab2_within") {
            const ClaimCheck found = check(claim, observations, claim_checks());
            verdicts[claim.id] = found.verdict;
            EXPECT_EQ(is_explained(claim, found), found.verdict == ClaimVerdict::contradicted);
            RecordProperty(claim.id, found.reason);
        }
    EXPECT_THAT(verdicts,
                testing::UnorderedElementsAre(
                    testing::Pair("lazarus/tab2/gpt-s/200/experts", ClaimVerdict::supported),
                    testing::Pair("lazarus/tab2/gpt-s/4000/experts", ClaimVerdict::supported),
                    testing::Pair("lazarus/tab2/gpt-l/200/experts", ClaimVerdict::contradicted),
                    testing::Pair("lazarus/tab2/gpt-l/4000/experts", ClaimVerdict::contradicted)));
}

}  // namespace
}  // namespace assay::lazarus
