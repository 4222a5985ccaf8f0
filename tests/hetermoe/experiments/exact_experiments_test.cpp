// The exact experiments: what they record is what was computed independently, or by hand.
#include <gtest/gtest.h>

#include <string>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

MemoryRecorder sample(const Experiment& experiment, const std::string& variant, Case axes) {
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = variant;
    spec.axes = std::move(axes);
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder;
}

TEST(HetermoeFig5, NoSwapIsShorterAndSomeAreLonger) {
    double longest = 1;
    for (const char* stages : {"equal", "free_head", "attention_longer"}) {
        for (const char* variant :
             {"zebra", "swapped_layers", "swapped_micro_batches", "swapped_passes"}) {
            const MemoryRecorder found = sample(fig5(), variant,
                                                {{"stages", stages},
                                                 {"layers", std::int64_t{2}},
                                                 {"micro_batches", std::int64_t{3}}});
            EXPECT_GE(found.value("shortest"), 1) << stages << variant;
            EXPECT_EQ(found.value("swaps", {{"outcome", "shorter"}}), 0) << stages << variant;
            if (std::string(variant) == "zebra") {
                EXPECT_EQ(found.value("longest"), 1);
                EXPECT_EQ(found.value("swaps", {{"outcome", "equal"}}), 0);
            }
            longest = std::max(longest, found.value("longest"));
        }
    }
    EXPECT_GT(longest, 1.05);
}

// The counts that round to the printed ones.
TEST(HetermoeTab2, ParametersRoundToThePrintedOnesWithoutEmbeddings) {
    const auto billions = [](const char* model, const char* variant) {
        return sample(tab2(), variant, {{"model", model}}).value("parameters");
    };
    EXPECT_NEAR(billions("w1", "without_embeddings"), 2.156, 5e-4);
    EXPECT_NEAR(billions("w2", "without_embeddings"), 4.270, 5e-4);
    EXPECT_NEAR(billions("d1", "without_embeddings"), 2.135, 5e-4);
    EXPECT_NEAR(billions("d2", "without_embeddings"), 1.205, 5e-4);
    EXPECT_NEAR(billions("d3", "without_embeddings"), 3.544, 6e-4);
    EXPECT_GT(billions("w1", "with_embeddings"), 2.25);  // would print as 2.3
}

TEST(HetermoeTab1, CountsTheGroupsThatExpertsDivideAmong) {
    // Six new GPUs and one, two or three old ones; of these 1:2, 3:2, 5:2 … do not divide.
    const MemoryRecorder found = sample(tab1(), "hetermoe", {{"cluster", "o3"}});
    EXPECT_EQ(found.value("groups"), 18);
    EXPECT_EQ(found.value("groups_with_moves"), 6 + 4 + 3);
    EXPECT_THROW(sample(tab1(), "hetermoe", {{"cluster", "o4"}}), UserError);
}

TEST(HetermoeXOrder, CountsTheInstancesInWhichTheorem1IsLonger) {
    const auto at = [](const char* head) {
        return sample(x_order(), "zebra",
                      {{"head", head},
                       {"layers", std::int64_t{1}},
                       {"micro_batches", std::int64_t{2}},
                       {"exchange", std::int64_t{0}}});
    };
    EXPECT_EQ(at("free").value("instances", {{"outcome", "longer"}}), 12);
    EXPECT_EQ(at("free").value("instances", {{"outcome", "optimal"}}), 36);
    EXPECT_NEAR(at("free").value("worst_ratio"), 56.0 / 52, 1e-12);
    EXPECT_EQ(at("as_attention").value("worst_ratio"), 1);
    EXPECT_EQ(at("free").tables.at(0).rows.size(), 48u);
}

TEST(HetermoeXSqueeze, Algorithm1IsUpToATenthLongerOnFourLayersAndEightMicroBatches) {
    const auto at = [](const char* variant, const char* group) {
        return sample(
            x_squeeze(), variant,
            {{"group", group}, {"layers", std::int64_t{4}}, {"micro_batches", std::int64_t{8}}});
    };
    EXPECT_NEAR(at("published", "1:1").value("worst_excess"), 0.0995, 1e-3);
    EXPECT_EQ(at("published", "1:1").value("mean_excess"),
              at("printed", "1:1").value("mean_excess"));
    EXPECT_LT(at("published", "1:2").value("mean_excess"),
              at("printed", "1:2").value("mean_excess"));
    for (const char* group : {"1:1", "1:2", "2:1"})
        EXPECT_LT(at("published", group).value("mean_excess"),
                  at("off", group).value("mean_excess"));
}

}  // namespace
}  // namespace assay::hetermoe
