// lazarus/fig10a: rows and bytes of the busiest rank, padded against un-padded.
#include <gtest/gtest.h>

#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

SampleSpec spec_of(const char* variant, std::int64_t ratio, const char* routing = "even") {
    SampleSpec spec;
    spec.experiment = "lazarus/fig10a";
    spec.variant = variant;
    spec.axes = {{"ratio", ratio},
                 {"routing", routing},
                 {"width", std::int64_t{64}},
                 {"tokens", std::int64_t{224}}};
    spec.provenance = Provenance::exact;
    return spec;
}

MemoryRecorder run(const SampleSpec& spec) {
    const Experiment experiment = fig10a();
    experiment.validate(spec);
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    for (const auto& metric : recorder.metrics)
        EXPECT_NE(experiment.metric(metric.name), nullptr) << metric.name;
    return recorder;
}

// By hand: two ranks of a group hold four experts each. Un-padded the rank with the hot one has
// (7a + 3(8-a)) / 56 of the group's rows; padded, eight slices of a/8 of a rank's rows.
TEST(Fig10a, FixedGroupsComputeWhatTheFormulaSays) {
    for (std::int64_t a = 1; a <= 8; ++a) {
        EXPECT_DOUBLE_EQ(run(spec_of("ds", a)).value("busiest_rows"), double(a)) << a;
        EXPECT_DOUBLE_EQ(run(spec_of("ds", a)).value("relative_throughput"), 1.0 / double(a));
        EXPECT_DOUBLE_EQ(run(spec_of("ds_unpadded", a)).value("busiest_rows"),
                         2 * double(7 * a + 3 * (8 - a)) / 56);
    }
}

// Replicas by load: however skewed, no rank computes much more than its own tokens.
TEST(Fig10a, ReplicasByLoadKeepTheBusiestRankNearItsShare) {
    for (std::int64_t a = 1; a <= 6; ++a) {
        const double rows = run(spec_of("lazarus", a)).value("busiest_rows");
        EXPECT_GE(rows, 1) << a;
        EXPECT_LT(rows, 1.1) << a;
    }
    // Seven experts without a token keep two replicas each: 46 of 60 slots have work.
    EXPECT_NEAR(run(spec_of("lazarus", 8)).value("busiest_rows"), 60.0 / 46, 0.005);
    EXPECT_GT(run(spec_of("lazarus", 1)).value("busiest_rows"), 1);  // 60 slots, 8 experts
}

// Even at even load, a padded slice is as large as the largest that chance brings.
TEST(Fig10a, DrawnRowsCostThePaddedExchangeMore) {
    const double drawn = run(spec_of("ds", 1, "drawn")).value("busiest_rows");
    EXPECT_GT(drawn, 1.1);
    EXPECT_LT(run(spec_of("lazarus", 1, "drawn")).value("busiest_rows"), drawn);
    auto other = spec_of("ds", 1, "drawn");
    other.seed = 5;
    EXPECT_NE(run(other).value("busiest_bytes"),
              run(spec_of("ds", 1, "drawn")).value("busiest_bytes"));
}

TEST(Fig10a, HasAProfileForGpusAndSaysWhatIsMissing) {
    const Experiment experiment = fig10a();
    const ProfilePlan* plan = experiment.plan(Profile::gpu);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->provenances, std::vector{Provenance::measured});
    auto spec = spec_of("lazarus", 2);
    spec.profile = Profile::gpu;
    spec.provenance = Provenance::measured;
    for (const Value& tokens : plan->axes.at("tokens")) {
        spec.axes["tokens"] = tokens;
        EXPECT_NO_THROW(experiment.validate(spec));
    }
    if (const auto reason = experiment.unsupported(spec)) {
        EXPECT_GT(reason->size(), 20u) << *reason;
    }
    spec.provenance = Provenance::exact;
    EXPECT_EQ(experiment.unsupported(spec), std::nullopt);
}

TEST(Fig10a, RefusesWhatHasNoWholeShares) {
    auto spec = spec_of("ds", 2);
    spec.axes["tokens"] = std::int64_t{100};
    EXPECT_ANY_THROW(fig10a().validate(spec));
    spec = spec_of("ds", 9);
    EXPECT_ANY_THROW(fig10a().validate(spec));
}

}  // namespace
}  // namespace assay::lazarus
