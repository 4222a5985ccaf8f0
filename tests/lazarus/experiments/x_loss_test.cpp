// lazarus/x_loss: what becomes of batch and learning rate, and that a loss curve by plan is the one
// under real kills.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/trainings/loss_course.hpp"
#include "impls/lazarus/experiments/trainings/x_loss.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "tests/lazarus/live/live_training.hpp"

namespace assay::lazarus {
namespace {

using Batch = BatchRule::Batch;
using Rate = BatchRule::Rate;

TEST(BatchRule, EverySequenceOfTheBatchIsComputedOnce) {
    for (const Batch batch : {Batch::shrink, Batch::keep})
        for (int full = 1; full <= 9; ++full)
            for (int ranks = 1; ranks <= full; ++ranks)
                for (int sequences = 2; sequences <= 5; ++sequences) {
                    SCOPED_TRACE(::testing::Message() << full << ' ' << ranks << ' ' << sequences);
                    const BatchRule rule{batch, Rate::keep, full};
                    std::int64_t next = 0;
                    for (int rank = 0; rank < ranks; ++rank) {
                        const auto parts = micro_batches(rule, sequences, ranks, rank);
                        // A collective of one rank needs its counterpart on all.
                        ASSERT_EQ(parts.size(), micro_batches(rule, sequences, ranks, 0).size());
                        for (const auto& part : parts) {
                            EXPECT_EQ(part.first, next);
                            EXPECT_GE(part.sequences, 1);
                            EXPECT_LE(part.sequences, sequences);
                            next += part.sequences;
                        }
                    }
                    EXPECT_EQ(next, sequences * (batch == Batch::keep ? full : ranks));
                    EXPECT_EQ(next, global_sequences(rule, sequences, ranks));
                }
    EXPECT_THROW(micro_batches({Batch::keep, Rate::keep, 8}, 1, 7, 0), std::invalid_argument);
}

TEST(BatchRule, LearningRatesFollowTheWorkers) {
    EXPECT_DOUBLE_EQ(learning_rate({Batch::shrink, Rate::keep, 8}, 0.1, 2), 0.1);
    EXPECT_DOUBLE_EQ(learning_rate({Batch::shrink, Rate::root, 8}, 0.1, 2), 0.05);
    EXPECT_DOUBLE_EQ(learning_rate({Batch::shrink, Rate::linear, 8}, 0.1, 2), 0.025);
    EXPECT_DOUBLE_EQ(learning_rate({Batch::keep, Rate::linear, 8}, 0.1, 8), 0.1);
}

TrainingConfig small_training(at::ScalarType dtype) {
    TrainingConfig c;
    c.model = {.layers = 2,
               .width = 32,
               .heads = 2,
               .experts = 4,
               .hidden = 64,
               .context = 24,
               .dtype = dtype};
    c.sequences = 2;
    c.corpus = ASSAY_TEST_CORPUS;
    return c;
}

LossCourseOptions small_course(at::ScalarType dtype, BatchRule rule) {
    LossCourseOptions options;
    options.training = small_training(dtype);
    options.training.batch = rule;
    options.steps = 12;
    options.samples = 12 * 2 * 4;
    options.points = 4;
    options.workers = [](std::int64_t samples) { return samples < 32 ? 4 : samples < 64 ? 3 : 2; };
    return options;
}

LossCourseOptions without_losses(LossCourseOptions options) {
    options.workers = [](std::int64_t) { return 4; };
    return options;
}

void expect_close(const std::vector<double>& a, const std::vector<double>& b, double relative) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i] / b[i], 1, relative) << i;
}

// Three and two workers compute the batch of four in several passes: but for rounding nothing is
// different, and in double precision hardly that.
TEST(LossCourse, AKeptBatchIsTheFaultFreeTraining) {
    const auto options = small_course(at::kDouble, {Batch::keep, Rate::keep, 4});
    const auto kept = follow_loss(options), fault_free = follow_loss(without_losses(options));
    EXPECT_EQ(kept.samples, fault_free.samples);
    expect_close(kept.training_loss, fault_free.training_loss, 1e-9);
    expect_close(kept.by_samples, fault_free.by_samples, 1e-9);
    EXPECT_EQ(fault_free.passes, 12);
    // Four steps as they were, four of 8/3 sequences (the busiest has 3 where 2 are a pass), four
    // of twice as many.
    EXPECT_EQ(kept.passes, 4 + 4 * 1.5 + 4 * 2);
}

TEST(LossCourse, AShrunkBatchMakesMoreUpdatesOfFewerSamples) {
    const auto options = small_course(at::kFloat, {Batch::shrink, Rate::keep, 4});
    const auto shrunk = follow_loss(options), fault_free = follow_loss(without_losses(options));
    EXPECT_EQ(shrunk.workers[3], 4);
    EXPECT_EQ(shrunk.workers[4], 3);
    EXPECT_EQ(shrunk.workers.back(), 2);
    EXPECT_EQ(shrunk.samples[4], 32 + 6);
    EXPECT_GT(shrunk.training_loss.size(), fault_free.training_loss.size());
    EXPECT_EQ(shrunk.by_samples.size(), 4u);
    EXPECT_EQ(shrunk.by_steps.size(), 4u);
    EXPECT_EQ(shrunk.by_steps[0], fault_free.by_steps[0]);  // nobody was lost yet
    EXPECT_NE(shrunk.by_steps[3], fault_free.by_steps[3]);
    EXPECT_EQ(shrunk, follow_loss(options));  // to the bit
    EXPECT_EQ(loss_course_from(to_json(shrunk)), shrunk);
}

class PlannedCurve : public ::testing::TestWithParam<BatchRule> {};

// Real workers are killed; the steps that were committed are then trained again by plan.
TEST_P(PlannedCurve, EqualsTheOneUnderRealKillsBitForBit) {
    auto options = small_session("kill:rank=1@step=2; kill:rank=3@step=4; join:count=1@step=6");
    options.training.batch = GetParam();
    const auto live = run_live(options).result;
    ASSERT_TRUE(live.ok) << live.why;
    ASSERT_EQ(live.counts.deaths, 2);
    ASSERT_EQ(live.steps.size(), live.lineage.size());
    const nn::ByteCorpus corpus(options.training.corpus);
    PlannedTraining planned(options.training, corpus);
    std::size_t fewest = 9;
    for (std::size_t i = 0; i < live.lineage.size(); ++i) {
        EXPECT_EQ(planned.train(live.lineage[i]).loss, live.steps[i].loss) << "step " << i;
        fewest = std::min(fewest, live.lineage[i].training.size());
    }
    EXPECT_EQ(fewest, 3u);
    EXPECT_TRUE(agrees(live.digests, planned.digests()));
}

INSTANTIATE_TEST_SUITE_P(Rules, PlannedCurve,
                         ::testing::Values(BatchRule{Batch::shrink, Rate::keep, 5},
                                           BatchRule{Batch::shrink, Rate::root, 5},
                                           BatchRule{Batch::keep, Rate::keep, 5}));

TEST(LazarusLoss, DeclaresWhatItRecordsAndLearns) {
    const Experiment experiment = x_loss();
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = "shrunk";
    spec.axes = {{"workers", std::int64_t{4}},
                 {"workers_left", std::int64_t{2}},
                 {"sequences", std::int64_t{4}},
                 {"steps", std::int64_t{30}},
                 {"learning_rate", 2e-3}};
    experiment.validate(spec);
    MemoryRecorder recorder;
    train_x_loss({.steps = 30, .arm = LossArm::shrunk, .corpus = ASSAY_TEST_CORPUS}, recorder);
    for (const auto& metric : recorder.metrics) {
        const MetricSpec* declared = experiment.metric(metric.name);
        ASSERT_NE(declared, nullptr) << metric.name;
        EXPECT_EQ(declared->labels.size(), metric.labels.size()) << metric.name;
    }
    const auto at = [&](const char* name, std::int64_t samples) {
        return recorder.value(name, {{"samples", samples}});
    };
    EXPECT_LT(at("held_out_loss", 480), at("held_out_loss", 48) - 0.5);
    EXPECT_EQ(at("over_fault_free", 192), 0);  // before the first loss
    EXPECT_NE(at("over_fault_free", 480), 0);
    spec.axes["workers_left"] = std::int64_t{5};
    EXPECT_ANY_THROW(experiment.validate(spec));
}

}  // namespace
}  // namespace assay::lazarus
