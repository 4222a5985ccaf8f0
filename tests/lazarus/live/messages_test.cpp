// The messages between controller and workers: what goes in comes out, and no damaged text does
// worse than an exception.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "impls/lazarus/live/messages.hpp"
#include "suite/drive/messages.hpp"

namespace assay::lazarus {
namespace {

Reconfigure example() {
    Reconfigure plan;
    plan.epoch = 3;
    plan.members = {0, 2, 5};
    plan.training = {0, 5};
    plan.holders = {{{0, 0, 1}, {1, 2, 2}}, {{0, 1, 2}, {0, 1, 2}}};
    plan.transfers = {{0, 1, 2, 5}, {1, 2, 0, 5}};
    plan.need_dense = {5};
    plan.dense_sources = {2};
    plan.resume_step = 17;
    plan.why = "join of 5";
    return plan;
}

// As workers and session pass them on: by type, with what drivers add.
TEST(Messages, HaveTheTypesThatWorkersListenTo) {
    EXPECT_EQ(to_message(Go{3, 17}).dump(), R"({"epoch":3,"step":17,"type":"go"})");
    EXPECT_EQ(to_message(Commit{3, 17})["type"], "commit");
    EXPECT_EQ(to_message(example())["type"], "reconfigure");
    EXPECT_EQ(to_message(WriteCheckpoint{10, {{0}}, 0}, 0)["type"], "write_checkpoint");
    const auto abort = to_message(Abort{3, -1});
    EXPECT_EQ(abort["type"], "abort");
    EXPECT_EQ(abort["dead"], -1);
    EXPECT_EQ(abort["urgent"], true);
}

TEST(Messages, WhatPacingAddsToAReportIsNotLookedAt) {
    const StepReport report{.worker = 1, .epoch = 3, .step = 17, .loss = 2.5, .loads = {{3, 4}}};
    auto paced = to_message(report);
    EXPECT_EQ(paced["type"], "step_done");
    EXPECT_EQ(paced["loss"], 2.5);
    paced["work_s"] = 0.5;
    EXPECT_EQ(worker_message_from(paced), WorkerMessage(report));
    EXPECT_THROW(reconfigure_from(paced), drive::MessageError);
}

TEST(Messages, AReconfigurationComesBackWhole) {
    auto plan = example();
    EXPECT_EQ(reconfigure_from(to_message(plan)), plan);
    plan.restore_step = 10;
    EXPECT_EQ(reconfigure_from(to_message(plan)), plan);
}

TEST(Messages, WhatWorkersSayComesBackWhole) {
    const WorkerMessage messages[] = {
        StepReport{.worker = 1, .epoch = 3, .step = 17, .loss = 2.5, .loads = {{3, 4}, {5, 2}}},
        StepFailed{1, 3, 17, "a loss is not a finite number"},
        GroupReport{.worker = 1,
                    .epoch = 3,
                    .group_s = 0.1,
                    .transfer_s = 1e-9,
                    .blocks = 2,
                    .bytes = 1L << 40},
        CheckpointWritten{1, 10},
        CheckpointFailed{1, 10, "no space"},
        RestoreFailed{1, 3, 10, "torn"},
        Digests{{{dense_key, ~0ULL}, {{1, 2}, 5}}},
    };
    ASSERT_EQ(std::size(messages), std::variant_size_v<WorkerMessage>);
    std::set<std::string> types;
    for (const WorkerMessage& message : messages) {
        const auto travelled = nlohmann::json::parse(to_message(message).dump());
        EXPECT_EQ(worker_message_from(travelled), message);
        types.insert(travelled["type"]);
    }
    EXPECT_EQ(types.size(), std::size(messages));
    EXPECT_THROW(worker_message_from({{"type", "step_half_done"}}), drive::MessageError);
    EXPECT_THROW(worker_message_from({{"type", "checkpoint_written"}}), drive::MessageError);
}

TEST(Messages, ACheckpointOrderNamesTheOwnersShareOnly) {
    const WriteCheckpoint order{10, {{0, 2}, {2, 0}}, 0};
    EXPECT_EQ(checkpoint_blocks_from(to_message(order, 0)),
              (std::vector<BlockKey>{dense_key, {0, 0}, {1, 1}}));
    EXPECT_TRUE(checkpoint_blocks_from(to_message(order, 1)).empty());
}

TEST(Messages, ATrainingConfigComesBackWhole) {
    TrainingConfig config;
    config.model.layers = 3;
    config.model.dtype = at::kDouble;
    config.adam.beta2 = 0.99;
    config.seed = ~0ULL;
    config.corpus = "a text";
    config.group = 4;
    config.routing = "synthetic";
    config.modelled_steps = 40;
    const auto back = training_config_from(nlohmann::json::parse(to_json(config).dump()));
    EXPECT_EQ(to_json(back), to_json(config));
    EXPECT_EQ(back.group, 4);
    EXPECT_EQ(back.routing, "synthetic");
    EXPECT_EQ(back.modelled_steps, 40);
    EXPECT_EQ(back.seed, ~0ULL);
}

TEST(Messages, DamagedTextIsAnExceptionAtWorst) {
    const std::string texts[] = {
        to_message(example()).dump(),
        to_message(StepReport{.worker = 1, .epoch = 3, .step = 17, .loss = 2.5, .loads = {{3, 4}}})
            .dump(),
        to_message(Digests{{{{1, 2}, 5}}}).dump(), to_json(TrainingConfig{}).dump(),
        to_message(WriteCheckpoint{10, {{0}}, 0}, 0).dump()};
    std::mt19937 random(1);
    long refused = 0;
    for (int i = 0; i < 20000; ++i) {
        auto text = texts[random() % std::size(texts)];
        for (auto edits = 1 + random() % 3; edits > 0 && !text.empty(); --edits) {
            const auto at = random() % text.size();
            if (random() % 2)
                text[at] = "0123456789-{}[],:\"e"[random() % 19];
            else
                text.erase(at, 1 + random() % 4);
        }
        try {
            const auto message = nlohmann::json::parse(text);
            reconfigure_from(message);
        } catch (const std::exception&) {
            ++refused;
        }
        try {
            const auto message = nlohmann::json::parse(text);
            if (message.contains("loads") || message.contains("digests"))
                worker_message_from(message);
            if (message.contains("blocks")) checkpoint_blocks_from(message);
            if (message.contains("corpus")) training_config_from(message);
        } catch (const std::exception&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace assay::lazarus
