// The catalogue that one program tells another: nothing that it says is lost on the way.
#include "suite/experiment/catalogue.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace assay {
namespace {

Registry one_system() {
    Experiment experiment;
    experiment.id = "made/fig1";
    experiment.title = "A figure";
    experiment.source = "section 1";
    experiment.says = "what is done";
    experiment.axes = {{"size", "how large", {std::int64_t{1}, 2.0, std::string("big")}, true}};
    experiment.variants = {"ours", "theirs"};
    experiment.metrics = {{"time", "s", "it took", Direction::lower, true, {"step"}},
                          {"rate", "1/s", "a second", Direction::higher}};
    experiment.metrics.back().only = {Provenance::emulated};
    ProfilePlan plan{.profile = Profile::small};
    plan.provenances = {Provenance::exact, Provenance::simulated};
    plan.axes["size"] = {std::int64_t{4}};
    plan.variants = {"ours"};
    plan.rounds = 3;
    experiment.profiles = {plan};
    experiment.figure = {.kind = Figure::Kind::bars,
                         .metric = "time",
                         .x = "size",
                         .panels = {"size"},
                         .x_title = "size of it",
                         .y_title = "seconds",
                         .log_y = true};
    experiment.takes_faults = true;
    experiment.default_scenario = "kill:rank=1@step=2";
    System system;
    system.id = "made";
    system.title = "Made for a test";
    system.paper = "no paper";
    system.experiments = {experiment};
    system.event_kinds = {{"repair", "repairs", EventColour::recovery, EventLane::pause}};
    system.on_request = true;
    Registry registry;
    registry.add(std::move(system));
    return registry;
}

TEST(Catalogue, WhatIsReadSaysTheSameAgain) {
    const nlohmann::json told = catalogue_json(one_system());
    const Registry read = read_catalogue(nlohmann::json::parse(told.dump()));
    EXPECT_EQ(catalogue_json(read), told);
    const Experiment* experiment = read.experiment("made/fig1");
    ASSERT_TRUE(experiment);
    EXPECT_EQ(experiment->figure.kind, Figure::Kind::bars);
    EXPECT_EQ(experiment->axes[0].values, one_system().experiment("made/fig1")->axes[0].values);
    EXPECT_EQ(read.event_kinds(*experiment).back().lane, EventLane::pause);
    EXPECT_EQ(read.event_kinds(*experiment).back().colour, EventColour::recovery);
}

// A newer program has words that this one does not know; only a profile must be known.
TEST(Catalogue, UnknownWordsArePassedOver) {
    nlohmann::json told = catalogue_json(one_system());
    nlohmann::json& system = told["systems"][0];
    system["event_kinds"][0]["colour"] = "infrared";
    system["event_kinds"][0]["lane"] = "overtaking";
    nlohmann::json& experiment = system["experiments"][0];
    experiment["figure"]["kind"] = "hologram";
    experiment["metrics"][1]["better"] = "sideways";
    experiment["metrics"][1]["only"] = {"dreamt", "emulated"};
    nlohmann::json& plan = experiment["profiles"][0];
    plan["provenances"] = {"exact", "dreamt"};
    plan["axes_of"] = {{"dreamt", {{"size", {8}}}}, {"simulated", {{"size", {2}}}}};
    const Registry read = read_catalogue(told);
    const Experiment& found = *read.experiment("made/fig1");
    EXPECT_EQ(read.event_kinds(found).back().colour, EventColour::other);
    EXPECT_EQ(read.event_kinds(found).back().lane, EventLane::rank);
    EXPECT_EQ(found.figure.kind, Figure::Kind::lines);
    EXPECT_EQ(found.metrics[1].better, Direction::none);
    EXPECT_EQ(found.metrics[1].only, std::vector{Provenance::emulated});
    EXPECT_EQ(found.profiles[0].provenances, std::vector{Provenance::exact});
    ASSERT_EQ(found.profiles[0].axes_of.size(), 1u);
    EXPECT_EQ(found.profiles[0].axes_of.at(Provenance::simulated).at("size"),
              std::vector<Value>{std::int64_t{2}});
    plan["profile"] = "gigantic";
    EXPECT_THROW(read_catalogue(told), UserError);
}

// Whatever member is missing or of another kind: one sentence.
TEST(Catalogue, ADamagedOneIsRefused) {
    const nlohmann::json told = catalogue_json(one_system());
    EXPECT_THROW(read_catalogue(nlohmann::json::object()), UserError);
    EXPECT_THROW(read_catalogue(nlohmann::json::array()), UserError);
    int refused = 0;
    const nlohmann::json parts = told.flatten();
    for (const auto& [path, value] : parts.items()) {
        nlohmann::json damaged = told;
        damaged[nlohmann::json::json_pointer(path)] = nlohmann::json::object();
        try {
            read_catalogue(damaged);
        } catch (const UserError& error) {
            ++refused;
            EXPECT_NE(std::string(error.what()).find("catalogue"), std::string::npos) << path;
        }
    }
    EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace assay
