// The messages between controller and workers: what goes in comes out, and no damaged text does
// worse than an exception.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <variant>

#include "impls/lazarus/live/messages.hpp"
#include "suite/drive/any_message.hpp"

namespace assay::lazarus {
namespace {

using drive::AnyMessage;
using drive::to_message;

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

StepDone done() { return {.worker = 1, .epoch = 3, .step = 17, .loads = {{3, 4}, {5, 2}}}; }

template <class M>
M travelled(const M& message) {
    const auto text = AnyMessage(message).to_json().dump();
    return AnyMessage::of_json(nlohmann::json::parse(text)).to<M>();
}

// As workers and session pass them on: by type, with what drivers add.
TEST(Messages, HaveTheTypesThatWorkersListenTo) {
    EXPECT_EQ(to_message(Go{3, 17}).dump(), R"({"epoch":3,"step":17,"type":"go"})");
    EXPECT_EQ(to_message(Commit{3, 17})["type"], "commit");
    EXPECT_EQ(to_message(example())["type"], "reconfigure");
    EXPECT_EQ(to_message(share_of({10, {{0}}, 0}, 0))["type"], "write_checkpoint");
    const auto abort = AnyMessage(Abort{3, -1}).to_json();
    EXPECT_EQ(abort["type"], "abort");
    EXPECT_EQ(abort["dead"], -1);
    EXPECT_EQ(abort["urgent"], true);
}

TEST(Messages, WhatIsAddedToAReportIsNotLookedAt) {
    auto paced = to_message(done());
    EXPECT_EQ(paced["type"], "step_done");
    paced["loss"] = 2.5;
    paced["work_s"] = 0.5;
    EXPECT_EQ(drive::message_to<Event>(paced), Event(done()));
    EXPECT_THROW(drive::message_to<Reconfigure>(paced), drive::MessageError);
}

TEST(Messages, AReconfigurationComesBackWhole) {
    auto plan = example();
    EXPECT_EQ(travelled(plan), plan);
    plan.restore_step = 10;
    EXPECT_EQ(travelled(plan), plan);
}

TEST(Messages, WhatWorkersSayComesBackWhole) {
    for (const Event& event :
         {Event(done()), Event(StepFailed{1, 3, 17, "a loss is not finite"}), Event(Ready{1, 3}),
          Event(CheckpointWritten{1, 10}), Event(RestoreFailed{1, 3, 10, "torn"})})
        EXPECT_EQ(travelled(event), event);
    const CheckpointFailed failed{1, 10, "no space"};
    EXPECT_EQ(travelled(failed), failed);
    const Digests digests{{{dense_key, ~0ULL}, {{1, 2}, 5}}};
    EXPECT_EQ(travelled(digests), digests);
    EXPECT_THROW(drive::message_to<Event>(nlohmann::json{{"type", "step_half_done"}}),
                 drive::MessageError);
    EXPECT_THROW(drive::message_to<Event>(nlohmann::json{{"type", "checkpoint_written"}}),
                 drive::MessageError);
}

TEST(Messages, ACheckpointOrderNamesTheOwnersShareOnly) {
    const WriteCheckpoint order{10, {{0, 2}, {2, 0}}, 0};
    EXPECT_EQ(travelled(share_of(order, 0)).blocks,
              (std::vector<BlockKey>{dense_key, {0, 0}, {1, 1}}));
    EXPECT_TRUE(travelled(share_of(order, 1)).blocks.empty());
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
    const auto text = drive::to_json(config).dump();
    const auto back = drive::from_json<TrainingConfig>(nlohmann::json::parse(text));
    EXPECT_EQ(drive::to_json(back), drive::to_json(config));
    EXPECT_EQ(back.group, 4);
    EXPECT_EQ(back.routing, "synthetic");
    EXPECT_EQ(back.modelled_steps, 40);
    EXPECT_EQ(back.seed, ~0ULL);
}

TEST(Messages, DamagedTextIsAnExceptionAtWorst) {
    using AnyOfThem = std::variant<Reconfigure, StepDone, Digests, CheckpointShare>;
    const std::string texts[] = {to_message(example()).dump(), to_message(done()).dump(),
                                 to_message(Digests{{{{1, 2}, 5}}}).dump(),
                                 drive::to_json(TrainingConfig{}).dump(),
                                 to_message(share_of({10, {{0}}, 0}, 0)).dump()};
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
            if (message.contains("corpus"))
                drive::from_json<TrainingConfig>(message);
            else
                drive::message_to<AnyOfThem>(message);
        } catch (const std::exception&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace assay::lazarus
