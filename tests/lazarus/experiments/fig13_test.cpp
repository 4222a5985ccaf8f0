// Fig. 13 at toy size: equal seeds give equal jobs, times are over Lazarus' own, and a job that
// cannot get anywhere says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/base/error.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::lazarus {
namespace {

SampleSpec toy(const char* variant, double failure = 0.05) {
    const Experiment experiment = fig13a();
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = variant;
    spec.provenance = Provenance::simulated;
    for (const Axis& axis : experiment.axes) spec.axes[axis.name] = axis.values.front();
    for (const auto& [name, values] : experiment.profiles.front().axes)
        if (!values.empty()) spec.axes[name] = values.front();
    spec.axes["failure"] = failure;
    return spec;
}

MemoryRecorder run(const SampleSpec& spec) {
    const Experiment experiment = fig13a();
    experiment.validate(spec);
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder;
}

TEST(LazarusFig13, IsAFunctionOfItsSeed) {
    SampleSpec spec = toy("ds_ft", 0.2);
    const auto jct_h = [&] { return run(spec).value("jct_h"); };
    const double first = jct_h();
    EXPECT_EQ(jct_h(), first);
    spec.seed = 2;
    EXPECT_NE(jct_h(), first);
}

TEST(LazarusFig13, TimesAreOverLazarusUnderTheSameFaults) {
    const auto lazarus = run(toy("lazarus"));
    EXPECT_EQ(lazarus.value("jct_over_lazarus"), 1);
    EXPECT_EQ(lazarus.value("finished"), 1);
    for (const char* rival : {"ds_ft", "ds"}) {
        const auto found = run(toy(rival));
        EXPECT_DOUBLE_EQ(found.value("jct_over_lazarus"),
                         found.value("jct_h") / lazarus.value("jct_h"));
        EXPECT_GT(found.value("jct_over_lazarus"), 1) << "it pads";
    }
}

// Where nodes are lost within seconds of their coming, none must stay for ever: the network has
// room for so many only.
TEST(LazarusFig13, NoMoreNodesThanThereAreOnTheWholeCluster) {
    SampleSpec spec = toy("lazarus", 0.3);
    spec.axes["gpus"] = std::int64_t{1024};
    spec.axes["samples"] = std::int64_t{1'000'000};
    spec.seed = 3;
    EXPECT_LE(run(spec).value("mean_nodes_used"), 128);
}

TEST(LazarusFig13, NodesThatWaitForAGroupTrainAgain) {
    SampleSpec dropped = toy("ds_ft", 0.1), waiting = dropped;
    waiting.axes["left_over"] = "waiting";
    EXPECT_GT(run(waiting).value("mean_nodes_used"), run(dropped).value("mean_nodes_used"));
}

// Fixed groups deal in blocks whatever the axis says; Lazarus gains by loads that it knows.
TEST(LazarusFig13, BlocksAreTheWorseDealAndLazarusAlone) {
    const auto jct_h = [](const char* system, const char* deal) {
        SampleSpec spec = toy(system);
        spec.axes["deal"] = deal;
        return run(spec).value("jct_h");
    };
    EXPECT_LT(jct_h("lazarus", "history"), jct_h("lazarus", "blocks"));
    SampleSpec spec = toy("lazarus");
    spec.axes.erase("deal");
    EXPECT_EQ(run(spec).value("jct_h"), jct_h("lazarus", "history"));
    EXPECT_EQ(jct_h("ds", "history"), jct_h("ds", "blocks"));
}

TEST(LazarusFig13, PartsOfTheTimeAddUpToIt) {
    for (const char* system : {"lazarus", "ds_ft", "ds"}) {
        double sum = 0;
        for (const auto& metric : run(toy(system, 0.3)).metrics) {
            if (metric.name != "share") continue;
            EXPECT_GE(metric.value, -1e-9) << system;
            sum += metric.value;
        }
        EXPECT_NEAR(sum, 1, 1e-9);
    }
}

// With a checkpoint that is never written in time nobody gets anywhere who needs one.
TEST(LazarusFig13, AJobThatGetsNowhereIsGivenUpAndSaysSo) {
    SampleSpec spec = toy("ds", 0.1);
    spec.axes["storage"] = 1.0;
    spec.axes["most_times"] = std::int64_t{3};
    const auto found = run(spec);
    EXPECT_EQ(found.value("finished"), 0);
    EXPECT_DOUBLE_EQ(found.value("jct_over_lazarus"), 3);
    EXPECT_GT(found.value("deaths"), 0);
}

// What rivals leave for each other changes nothing.
TEST(LazarusFig13, ASessionFindsOutOnceHowLongLazarusTakes) {
    const testing::TemporaryFolder folder;
    SampleSpec spec = toy("ds_ft");
    const double alone = run(spec).value("jct_over_lazarus");
    spec.shared = (folder / "shared").string();
    EXPECT_DOUBLE_EQ(run(spec).value("jct_over_lazarus"), alone);
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(spec.shared), {}), 1);
    EXPECT_DOUBLE_EQ(run(spec).value("jct_over_lazarus"), alone);
    spec.seed = 2;
    run(spec);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(spec.shared), {}), 2);
}

TEST(LazarusFig13, StateOfOneGpuExceedsAnH200) {
    // 4 replicas in 58 layers of 44 million parameters, 14 bytes each, and an eighth of the rest.
    const double experts = 4 * 58 * 3 * 7168.0 * 2048 * 14 / 1e9;
    const double all = run(toy("lazarus")).value("state_per_gpu");
    EXPECT_GT(experts, 141);
    EXPECT_GT(all, experts);
    EXPECT_LT(all, experts + 40);
}

TEST(LazarusFig13, RefusesWhatMakesNoSense) {
    const auto refused = [](const char* axis, Value value) {
        SampleSpec spec = toy("lazarus");
        spec.axes[axis] = std::move(value);
        EXPECT_THROW(fig13a().validate(spec), UserError) << axis;
    };
    refused("gpus", std::int64_t{100});
    refused("gpus", std::int64_t{32});
    refused("failure", 1.5);
    refused("skew", -1.0);
    refused("storage", 0.0);
    refused("layers", std::int64_t{59});
    refused("deal", "by_step");
}

// What is not published must not decide: both ends of it have to agree with the paper.
TEST(LazarusFig13, AClaimHoldsOnlyAtBothEndsOfWhatIsAssumed) {
    const auto verdict = [](double at_the_far_end) {
        std::vector<Observation> observations;
        for (const double skew : {0.5, 1.0}) {
            for (const double storage : {20.0, 100.0}) {
                Observation o;
                o.experiment = "lazarus/fig13a";
                o.variant = "ds";
                o.axes = toy("ds", 0.01).axes;
                o.axes["gpus"] = std::int64_t{512};
                o.axes["skew"] = skew;
                o.axes["storage"] = storage;
                o.profile = Profile::paper;
                o.provenance = Provenance::simulated;
                o.metric = "jct_over_lazarus";
                o.value = skew == 1 && storage == 20 ? at_the_far_end : 4;
                observations.push_back(std::move(o));
            }
        }
        for (const Claim& claim :
             read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims/lazarus.toml"))
            if (claim.id == "lazarus/fig13a/0.01/ds") return check(claim, observations, {}).verdict;
        return ClaimVerdict::not_run;
    };
    EXPECT_EQ(verdict(3.8), ClaimVerdict::supported);
    EXPECT_NE(verdict(9), ClaimVerdict::supported);
    EXPECT_NE(verdict(9), ClaimVerdict::not_run);
}

TEST(LazarusFig13, DeclaresWhatItRecords) {
    const Experiment experiment = fig13a();
    for (const auto& metric : run(toy("ds")).metrics) {
        const MetricSpec* declared = experiment.metric(metric.name);
        ASSERT_NE(declared, nullptr) << metric.name;
        for (const auto& [label, value] : metric.labels)
            EXPECT_THAT(declared->labels, ::testing::Contains(label)) << metric.name;
    }
}

}  // namespace
}  // namespace assay::lazarus
