// The messages between controller and workers: what goes in comes out, and no damaged text does
// worse than an exception.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

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
    EXPECT_EQ(to_message(WriteCheckpoint{10, {{0}}, 0}, 0)["type"], "checkpoint");
    EXPECT_EQ(step_done(3, 17, {})["type"], "step_done");
    EXPECT_EQ(digests_message({})["type"], "digests");
    const auto abort = to_message(Abort{3, -1});
    EXPECT_EQ(abort["type"], "abort");
    EXPECT_EQ(abort["dead"], -1);
    EXPECT_EQ(abort["urgent"], true);
    auto paced = step_done(3, 17, {2.5, {{3, 4}}, ""});
    paced["work_s"] = 0.5;
    EXPECT_EQ(paced["loss"], 2.5);
    EXPECT_EQ(step_done_from(4, paced), (StepDone{4, 3, 17, {{3, 4}}}));
    EXPECT_THROW(reconfigure_from(paced), drive::MessageError);
}

TEST(Messages, AReconfigurationComesBackWhole) {
    auto plan = example();
    EXPECT_EQ(reconfigure_from(to_message(plan)), plan);
    plan.restore_step = 10;
    EXPECT_EQ(reconfigure_from(to_message(plan)), plan);
}

TEST(Messages, StepsAndDigestsComeBackWhole) {
    const StepResult result{2.5, {{3, 4}, {5, 2}}};
    const StepDone done{4, 3, 17, result.loads};
    EXPECT_EQ(step_done_from(4, step_done(3, 17, result)), done);
    const std::map<BlockKey, std::uint64_t> digests{{dense_key, ~0ULL}, {{1, 2}, 5}};
    EXPECT_EQ(digests_from(digests_message(digests)), digests);
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
        to_message(example()).dump(), step_done(3, 17, {2.5, {{3, 4}}}).dump(),
        digests_message({{{1, 2}, 5}}).dump(), to_json(TrainingConfig{}).dump(),
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
            if (message.contains("loads")) step_done_from(1, message);
            if (message.contains("digests")) digests_from(message);
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
