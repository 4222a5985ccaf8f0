// Gradients that are studied without training by them, and the arm that chooses its set by them.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "impls/dr_post_training/method/choosing.hpp"
#include "impls/dr_post_training/policy/plan.hpp"
#include "impls/dr_post_training/recipes/choose_arm.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"
#include "impls/dr_post_training/recipes/row_products.hpp"
#include "impls/dr_post_training/recipes/timed_models.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/dr_post_training/recipes/tiny_sample.hpp"

namespace assay::dr_post_training {
namespace {

const bool on_one_thread = (at::set_num_threads(1), true);

BiasExposure tiny_study(std::string arm, std::int64_t after = 0) {
    BiasExposure study;
    study.model = "llama-tiny";
    study.arm = std::move(arm);
    study.after = after;
    study.seed = 3;
    return study;
}

double labelled(const MemoryRecorder& recorder, const std::string& name, std::int64_t label) {
    for (const auto& metric : recorder.metrics)
        if (metric.name == name && metric.labels.begin()->second == Value(label))
            return metric.value;
    ADD_FAILURE() << name << " " << label;
    return 0;
}

// The plan's inner products are those that maps score with while they train.
TEST(RowProducts, AreWhatSelectingMapsSee) {
    const auto settings = sft_settings(tiny_sample("layer", {{"loss", "example"}}));
    nn::NoState none;
    const auto base = base_model(settings, 3, none, {});
    const SftRows rows(settings, 3);
    const auto general = rows.general(0).rows, target = rows.target(0);
    const PlanInput input = plan_input(base, general, target, LossMean::example);
    EXPECT_TRUE(input.tokens.empty());
    std::vector<double> tokens;
    for (const auto& row : general) tokens.push_back(static_cast<double>(row.scored_tokens()));
    EXPECT_EQ(plan_input(base, general, target, LossMean::token).tokens, tokens);
    ASSERT_EQ(input.layers.size(), 14U);
    EXPECT_EQ(input.layers[0].name, "layer0/query");
    EXPECT_EQ(input.layers[0].block, "layer0");
    EXPECT_EQ(input.layers[0].part, "attention");
    EXPECT_EQ(input.layers.back().part, "ffn");

    SelectingOptions options = options_for(Partition::layer, SetKind::simplex);
    options.choose = [&](const std::string&, const GroupStatistics& seen) {
        return subset_update({0}, std::vector<double>(seen.target.scores.size(), 1));
    };
    SelectingMaps maps(std::move(options));
    selecting_step({base, at::kFloat, LossMean::example, {}}, maps, Schedule::one_pass, general,
                   target)
        ->backward();
    for (const Layer& layer : input.layers) {
        const auto& seen = maps.decisions().at(layer.name).statistics;
        const double scale = layer.statistics.gram.largest();
        for (std::size_t b = 0; b < general.size(); ++b) {
            EXPECT_NEAR(layer.statistics.scores(b, 0), seen.target.scores[b], 1e-4 * scale)
                << layer.name;
            EXPECT_NEAR(layer.statistics.gram(b, 0), seen.gram(b, 0), 1e-4 * scale) << layer.name;
        }
    }
}

TEST(ChooseArm, TakesTheSetThatServesRowsLeftOut) {
    auto settings = sft_settings(tiny_sample("choose"));
    settings.steps = choose_every + 1;
    nn::NoState none;
    const auto base = base_model(settings, 3, none, {});
    const SftRows rows(settings, 3);
    const Trainee trainee("choose", settings, 1e-3, rows, base, 3);
    Arm* const arm = trainee.arm.get();
    ASSERT_TRUE(arm->step(0, rows.general(0)));
    ASSERT_EQ(arm->delegated().size(), 1U);
    // By hand: the sum over batches of what `assay plan --compare` says of each candidate.
    SetSettings set;
    set.k = settings.k;
    set.eta = 1e-3;
    std::map<std::string, double> gains;
    for (std::int64_t batch = 0; batch < choose_batches; ++batch) {
        const auto compared = compare_all(
            plan_input(base, rows.general(batch).rows, rows.given(), LossMean::token), set);
        for (const Candidate& candidate : candidates())
            for (const ComparedSet& one : compared)
                if (one.set == candidate.set && one.partition == candidate.partition)
                    gains[candidate.arm] += *one.gain / std::sqrt(*one.total.target_norm2);
    }
    EXPECT_EQ(gains.size(), candidates().size());
    const auto chosen = arm->delegated().begin()->first;
    for (const auto& [name, gain] : gains) EXPECT_LE(gain, gains.at(chosen)) << name;

    const auto tuned = fine_tune(settings, "choose", 1e-3, rows, base, 3, {});
    std::int64_t steps = 0;
    for (const auto& [name, count] : tuned.delegated) steps += count;
    EXPECT_EQ(steps, settings.steps);
    MemoryRecorder recorder;
    run(tiny_sample("choose", {{"steps", std::int64_t{3}}}), recorder);
    EXPECT_TRUE(std::isfinite(recorder.value("perplexity")));
}

TEST(BiasExposure, AddsUpAndKnowsItsEnds) {
    std::map<std::string, MemoryRecorder> seen;
    for (const char* variant : {"full", "global", "layer", "target"})
        run(tiny_study(variant), seen[variant]);
    for (const auto& [variant, recorder] : seen)
        for (const std::int64_t rows : {1, 2, 4, 16, 64, 128}) {
            // The triangle of update, the update that knows, and the direction itself.
            const double error = labelled(recorder, "error", rows),
                         exposure = labelled(recorder, "exposure", rows),
                         bias = recorder.value("bias");
            EXPECT_LE(error, bias + exposure + 1e-9) << variant;
            EXPECT_GE(error, std::abs(bias - exposure) - 1e-9) << variant;
            EXPECT_LE(std::abs(labelled(recorder, "cosine", rows)), 1 + 1e-9) << variant;
        }
    // Plain training does not listen; target rows alone are all exposure.
    EXPECT_EQ(labelled(seen["full"], "exposure", 1), 0);
    EXPECT_NEAR(labelled(seen["full"], "error", 1), seen["full"].value("bias"), 1e-9);
    EXPECT_NEAR(seen["target"].value("bias"), 0, 1e-6);
    EXPECT_GT(labelled(seen["target"], "error", 1), labelled(seen["target"], "error", 128));
    MemoryRecorder trained;
    run(tiny_study("layer", 2), trained);
    EXPECT_NE(trained.value("bias"), seen["layer"].value("bias"));
}

// Whether the sample trains the base or takes one that another sample of the session has trained.
TEST(BiasExposure, IsTheSameOnAKeptBase) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "bias_exposure_shared";
    for (const std::int64_t after : {0, 2}) {
        std::filesystem::remove_all(folder);
        auto study = tiny_study("layer", after);
        study.shared = folder;
        MemoryRecorder made, taken;
        run(study, made);
        EXPECT_FALSE(std::filesystem::is_empty(folder));
        run(study, taken);
        ASSERT_EQ(made.metrics.size(), taken.metrics.size());
        for (std::size_t i = 0; i < made.metrics.size(); ++i)
            EXPECT_EQ(made.metrics[i].value, taken.metrics[i].value)
                << made.metrics[i].name << " after " << after;
    }
    std::filesystem::remove_all(folder);
}

TEST(CompressionStudy, RanksMoreAlikeTheMoreNumbersThereAre) {
    CompressedScores study;
    study.model = "llama-tiny";
    study.partition = Partition::layer;
    study.seed = 3;
    MemoryRecorder recorder;
    run(study, recorder);
    EXPECT_GT(labelled(recorder, "rank_correlation", 4096),
              labelled(recorder, "rank_correlation", 4));
    EXPECT_LE(labelled(recorder, "rank_correlation", 4096), 1);
    EXPECT_GT(labelled(recorder, "kept_alike", 4096), labelled(recorder, "kept_alike", 4));
}

TEST(TimedModels, AreOursOrPublishedShapes) {
    EXPECT_EQ(timed_model("llama-9m").width, 256);
    EXPECT_EQ(timed_model("llama3.2-1b").layers, 16);
    EXPECT_THROW(timed_model("llama-8m"), UserError);
}

}  // namespace
}  // namespace assay::dr_post_training
