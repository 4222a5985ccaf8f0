// The decisions of a training: kept with its sample whole, replayed alike, and found out where
// they are not those of this code.
#include "impls/lazarus/recorded_decisions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <variant>

#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/recording.hpp"
#include "tests/drive/random_message.hpp"

namespace assay::lazarus {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Protocol, EveryEventAndActionComesBackThroughText) {
    assay::testing::RandomMessages random(1);
    for (int i = 0; i < 5000; ++i) {
        const auto event = random.make<Event>();
        ASSERT_EQ(drive::message_to<Event>(json::parse(drive::to_message(event).dump())), event);
        const auto action = random.make<Action>();
        ASSERT_EQ(drive::message_to<Action>(json::parse(drive::to_message(action).dump())), action);
        const auto config = drive::to_json(random.make<ControllerConfig>());
        ASSERT_EQ(drive::to_json(drive::from_json<ControllerConfig>(json::parse(config.dump()))),
                  config);
    }
}

TEST(Protocol, SettingsAreWrittenByTheirNames) {
    ControllerConfig config;
    config.layout = Layout::groups;
    config.recovery = Recovery::restart;
    config.placement = PlacementPolicy::mro_guarded;
    config.join_wait_s = 120;
    const json object = drive::to_json(config);
    EXPECT_EQ(object["layout"], "groups");
    EXPECT_EQ(object["recovery"], "restart");
    EXPECT_EQ(object["placement"], "mro_guarded");
    EXPECT_EQ(object["join_wait_s"], 120.0);
    EXPECT_EQ(object.size(), 16U);
}

struct Trained {
    ModelledTraining training;
    SimulatedCourse course;
};

/// Half an hour with losses, joins and a leave.
Trained train(const std::string& system) {
    SpotTraining spot;
    spot.system = system;
    spot.workers = 6;
    spot.duration_s = 1800;
    Trained trained{modelled_training(spot), {}};
    trained.training.faults = parse_fault_plan(
        "kill:rank=1@t=200; join:count=2@t=400; kill:rank=0@t=700; stop:rank=3@t=900; "
        "kill:rank=2@t=1200; kill:rank=4@t=1200");
    MemoryRecorder recorder;
    trained.course = simulate_training(trained.training, recorder);
    return trained;
}

MemoryRecorder::Artifact stored(const Trained& trained, std::string_view clock = "") {
    MemoryRecorder recorder;
    store_decisions(recorder, trained.training.controller, trained.course.decisions, clock);
    EXPECT_EQ(recorder.artifacts.size(), 1U);
    return recorder.artifacts.at(0);
}

PolicyReplay replayed(const std::string& text) {
    std::istringstream in(text);
    return replay_controller(in);
}

class Systems : public ::testing::TestWithParam<std::string> {};

TEST_P(Systems, ARecordingComesBackAndIsReplayedAlike) {
    const auto trained = train(GetParam());
    ASSERT_TRUE(trained.course.ok) << trained.course.why;
    const auto artifact = stored(trained);
    EXPECT_EQ(artifact.name, "decisions.jsonl");
    EXPECT_EQ(artifact.media_type, recorded_decisions);
    std::istringstream in(artifact.bytes);
    const auto back = drive::read_recording<Controller, ControllerConfig>(in, "lazarus/controller");
    EXPECT_EQ(drive::to_json(back.settings), drive::to_json(trained.training.controller));
    EXPECT_EQ(back.decisions, trained.course.decisions);
    const PolicyReplay replay = replayed(artifact.bytes);
    EXPECT_EQ(replay.decisions, trained.course.decisions.size());
    EXPECT_TRUE(replay.agrees()) << explanation(*replay.difference);
    EXPECT_LT(static_cast<double>(artifact.bytes.size()),
              160.0 * static_cast<double>(replay.decisions))
        << "reports that say the same take a few bytes";
}

INSTANTIATE_TEST_SUITE_P(RecordedDecisions, Systems, ::testing::ValuesIn(names_of_systems()));

TEST(RecordedDecisions, OfSeveralClocksHaveNamesOfTheirOwn) {
    EXPECT_EQ(stored({{}, {}}, "simulated").name, "decisions_simulated.jsonl");
}

TEST(RecordedDecisions, ATamperedPlacementIsFoundAndExplained) {
    auto trained = train("lazarus");
    std::size_t i = 0, plans = 0;
    for (; i < trained.course.decisions.size(); ++i) {
        auto& actions = trained.course.decisions[i].actions;
        auto* plan = actions.empty() ? nullptr : std::get_if<Reconfigure>(&actions.back());
        if (plan == nullptr || ++plans < 3) continue;
        ++plan->holders.at(1).at(2).at(0);
        break;
    }
    ASSERT_EQ(plans, 3U);
    const PolicyReplay replay = replayed(stored(trained).bytes);
    ASSERT_FALSE(replay.agrees());
    EXPECT_EQ(replay.difference->decision, i);
    const std::string says = explanation(*replay.difference);
    EXPECT_THAT(says, HasSubstr("decision " + std::to_string(i + 1)));
    EXPECT_THAT(says, HasSubstr("\n  holders/1/2/0 is "));
    const auto found =
        first_difference(Controller(trained.training.controller), trained.course.decisions);
    ASSERT_TRUE(found);
    EXPECT_EQ(explanation(trained.course.decisions, *found), says);
}

TEST(RecordedDecisions, AnotherPolicyDecidesOtherwise) {
    auto trained = train("lazarus");
    trained.training.controller.placement = PlacementPolicy::spread;
    EXPECT_FALSE(replayed(stored(trained).bytes).agrees());
}

// As written before there were strategies: settings keep their names, so it reads as it did.
TEST(RecordedDecisions, OlderRecordingsReadAndReplayAlike) {
    const PolicyReplay replay = replayed(
        R"({"format":1,"policy":"lazarus/controller","settings":{"checkpoint_every":0,)"
        R"("checkpoint_wait_s":600.0,"experts":2,"group":2,"initial_workers":5,"join_wait_s":0.0,)"
        R"("layers":1,"layout":"groups","min_replicas":1,"most_retries":3,"placement":"mro",)"
        R"("rebalance_every":0,"recovery":"peers","slots":1,"steps":3,"wait_for_nodes":false}}
{"actions":[],"event":{"more":false,"type":"joined","worker":0},"now_s":0.0}
{"event":{"worker":1},"now_s":1.0}
{"event":{"worker":2},"now_s":2.0}
{"event":{"worker":3},"now_s":3.0}
{"actions":[{"dense_sources":[],"epoch":1,"holders":[[[0],[1],[0],[1]]],"members":[0,1,2,3],)"
        R"("need_dense":[],"restore_step":0,"resume_step":0,"training":[0,1,2,3],"transfers":[],)"
        R"("type":"reconfigure","why":"start"}],"event":{"worker":4},"now_s":4.0}
{"actions":[],"event":{"epoch":1,"more":null,"type":"ready","worker":0},"now_s":5.0}
{"event":{"worker":1},"now_s":6.0}
{"event":{"worker":2},"now_s":7.0}
{"actions":[{"epoch":1,"step":0,"type":"go"}],"event":{"worker":3},"now_s":8.0}
{"actions":[{"dead":0,"epoch":1,"type":"abort"},{"dense_sources":[],"epoch":2,)"
        R"("holders":[[[1],[0]]],"members":[1,2],"need_dense":[],"resume_step":0,)"
        R"("training":[1,2],"transfers":[],"type":"reconfigure","why":"death of 0"}],)"
        R"("event":{"epoch":null,"type":"died","worker":0},"now_s":9.0}
)");
    EXPECT_EQ(replay.decisions, 10U);
    EXPECT_TRUE(replay.agrees()) << explanation(*replay.difference);
}

TEST(RecordedDecisions, AnotherFormatIsRefused) {
    std::string text = stored(train("ds")).bytes;
    text.replace(text.find("\"format\":1"), 10, "\"format\":9");
    try {
        replayed(text);
        FAIL();
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("has format 9, this build reads format 1"));
    }
}

}  // namespace
}  // namespace assay::lazarus
