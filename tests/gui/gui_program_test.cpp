// The programs: what the window says is what the command line says, of what a real run stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

class GuiProgram : public ProgramTest {
  protected:
    GuiProgram() : ProgramTest(ASSAY_PROGRAM) {
        EXPECT_EQ(assay({"run", "lazarus/fig10b"}).exit_code, 0);
    }
    std::string file() const { return (folder / "results.db").string(); }
    Printed gui(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"--db", file()});
        return run_program(ASSAY_GUI_PROGRAM, std::move(arguments), {});
    }
    nlohmann::json dump(const std::string& view) const {
        const Printed printed = gui({"--dump", view});
        EXPECT_EQ(printed.exit_code, 0) << printed.err;
        EXPECT_EQ(printed.err, "");
        return nlohmann::json::parse(printed.out);
    }
};

TEST_F(GuiProgram, WithoutADisplayItSaysWhatNeedsNone) {
    const EnvironmentVariable x("DISPLAY", ""), wayland("WAYLAND_DISPLAY", ""),
        platform("QT_QPA_PLATFORM", "");
    const Printed printed = gui({});
    EXPECT_EQ(printed.exit_code, 1);
    for (const char* instead : {"--screenshot", "--dump", "`assay report`"})
        EXPECT_NE(printed.err.find(instead), std::string::npos) << printed.err;
}

TEST_F(GuiProgram, SaysWhatTheCommandLineSays) {
    EXPECT_EQ(dump("figure:lazarus/fig10b")["claims"], assay_json({"claims", "lazarus/fig10b"}));
    EXPECT_FALSE(dump("figure:lazarus/fig10b")["panels"].empty());

    const nlohmann::json overview = dump("overview");
    nlohmann::json counts = nlohmann::json::object();
    for (const auto& claim : assay_json({"claims"}))
        if (claim["kind"] == "claim") {
            auto& n = counts[claim["verdict"].get<std::string>()];
            n = (n.is_null() ? 0 : n.get<long>()) + 1;
        }
    EXPECT_EQ(overview["claims"], counts);
    std::vector<std::string> listed, shown;
    for (const auto& experiment : assay_json({"list"})) listed.push_back(experiment["id"]);
    for (const auto& system : overview["systems"])
        for (const auto& experiment : system["experiments"])
            if (!experiment["title"].get<std::string>().empty()) shown.push_back(experiment["id"]);
    EXPECT_EQ(shown, listed);

    nlohmann::json history = dump("history:lazarus/fig10b")["trends"];
    for (auto& trend : history) {
        trend.erase("notes");
        trend.erase("nights");
    }
    EXPECT_EQ(history, assay_json({"history", "lazarus/fig10b"}));

    nlohmann::json rows = dump("compare:latest,latest")["rows"];
    for (auto& row : rows) {
        EXPECT_EQ(row["values_a"], row["values_b"]);
        row.erase("values_a");
        row.erase("values_b");
    }
    EXPECT_EQ(rows, assay_json({"compare", "latest", "latest"}));
}

TEST_F(GuiProgram, CountsWhatIsCompared) {
    std::map<std::string, long> counts;
    for (const auto& row : assay_json({"compare", "latest", "latest"}))
        ++counts[row["verdict"].get<std::string>()];
    EXPECT_EQ(dump("compare:latest,latest")["counts"], nlohmann::json(counts));
}

TEST_F(GuiProgram, ATimelineIsOfTheSampleThatWasRun) {
    const nlohmann::json run = assay_json({"run", "lazarus/fig10b", "--fresh"});
    const auto& sample = run["samples"][0];
    const nlohmann::json shown = dump("timeline:" + sample["id"].get<std::string>().substr(0, 8));
    EXPECT_EQ(shown["sample"], sample["id"]);
    EXPECT_EQ(shown["session"], run["session"]);
    for (const char* key :
         {"experiment", "variant", "case", "seed", "status", "profile", "provenance", "scenario"})
        EXPECT_EQ(shown[key], sample[key]) << key;
    for (const char* key : {"lanes", "marks", "curves", "hardware"})
        EXPECT_TRUE(shown[key].is_array()) << key;
}

TEST_F(GuiProgram, NotesAreInTheHistory) {
    const std::string session = dump("machine:latest")["session"];
    EXPECT_EQ(assay({"annotate", session, "new power supply"}).exit_code, 0);
    const nlohmann::json history = dump("history:lazarus/fig10b");
    ASSERT_FALSE(history["trends"].empty());
    for (const auto& trend : history["trends"]) {
        ASSERT_EQ(trend["notes"].size(), 1u);
        EXPECT_EQ(trend["notes"][0]["session"], session);
        EXPECT_EQ(trend["notes"][0]["text"], "new power supply");
        EXPECT_EQ(trend["nights"], nlohmann::json::array());
    }
}

// What changes from one look to the next, load and free disk, is only looked at for its place.
TEST_F(GuiProgram, TheMachineIsWhatTheDoctorFindsAndTheSessionKnows) {
    const nlohmann::json machine = dump("machine");
    std::vector<std::string> found, shown;
    for (const auto& finding : assay_json({"doctor"}))
        if (finding["check"] != "database") found.push_back(finding["check"]);
    for (const auto& finding : machine["fit"]) shown.push_back(finding["check"]);
    EXPECT_EQ(shown, found);
    std::map<std::string, std::string> facts;
    for (const auto& fact : machine["facts"]) facts[fact["name"]] = fact["value"];
    EXPECT_FALSE(facts.at("commit").empty());
    EXPECT_FALSE(facts.at("kernel").empty());
    EXPECT_NE(facts.at("processor"), "");
    EXPECT_TRUE(machine["before"].is_null());
    const std::string first = machine["session"];
    EXPECT_EQ(assay({"run", "lazarus/fig10b", "--fresh"}).exit_code, 0);
    const nlohmann::json later = dump("machine:latest");
    EXPECT_EQ(later["before"], first);
    EXPECT_TRUE(later["fit"].is_null());
    for (const auto& fact : later["facts"])
        EXPECT_EQ(fact["differs"], nlohmann::json::array()) << fact["name"];
}

TEST_F(GuiProgram, ARunIsWhatADryRunPlans) {
    const nlohmann::json all = dump("run");
    EXPECT_TRUE(all["plan"].is_null());
    ASSERT_EQ(all["runs"].size(), 1u);
    EXPECT_EQ(all["runs"][0]["state"], "finished");
    EXPECT_EQ(all["runs"][0]["done"], all["runs"][0]["planned"]);
    const nlohmann::json one = dump("run:lazarus/fig10b");
    EXPECT_EQ(one["plan"], assay_json({"run", "lazarus/fig10b", "--dry-run"}));
    EXPECT_EQ(one["command"], "assay run lazarus/fig10b");
}

TEST_F(GuiProgram, ReadingChangesNoByte) {
    const std::string before = contents(file());
    dump("overview");
    for (const char* view : {"figure:lazarus/fig10b", "machine", "run:lazarus/fig10b"}) dump(view);
    EXPECT_EQ(contents(file()), before);
}

TEST_F(GuiProgram, PicturesHaveTheirSizeAndAreTheSameEachTime) {
    for (const char* theme : {"light", "dark"}) {
        const std::string one = (folder / "one.png").string(), two = (folder / "two.png").string();
        for (const std::string& picture : {one, two}) {
            const Printed printed = gui({"--screenshot", "figure:lazarus/fig10b", picture, "--size",
                                         "800x600", "--scale", "2", "--theme", theme});
            EXPECT_EQ(printed.exit_code, 0) << printed.err;
        }
        const std::string png = contents(one);
        EXPECT_EQ(png, contents(two));
        ASSERT_GT(png.size(), 1000u);
        // The header: width and height, big-endian, at bytes 16 and 20.
        const auto number = [&](std::size_t at) {
            long value = 0;
            for (std::size_t i = 0; i < 4; ++i)
                value = value * 256 + static_cast<unsigned char>(png[at + i]);
            return value;
        };
        EXPECT_EQ(number(16), 1600);
        EXPECT_EQ(number(20), 1200);
    }
}

TEST_F(GuiProgram, WhatCannotBeShownIsOneSentence) {
    for (std::vector<std::string> wrong :
         {std::vector<std::string>{"--dump", "nothing"},
          {"--dump", "figure:no/such"},
          {"--dump", "timeline:ffffffff"},
          {"--dump", "compare:latest"},
          {"--dump", "compare:ffffffff,latest"},
          {"--dump", "machine:ffffffff"},
          {"--dump", "run:no/such"},
          {"--screenshot", "overview", "picture.png", "--size", "ten"},
          {"--screenshot", "overview", "/nothing/there.png"}}) {
        const Printed printed = gui(wrong);
        EXPECT_EQ(printed.exit_code, 1) << wrong[1];
        EXPECT_EQ(printed.err.rfind("assay-gui: ", 0), 0u) << printed.err;
        EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1) << printed.err;
    }
    const Printed missing =
        run_program(ASSAY_GUI_PROGRAM, {"--db", "/nothing/there.db", "--dump", "overview"}, {});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_NE(missing.err.find("no results database"), std::string::npos) << missing.err;
}

TEST_F(GuiProgram, IsReachedThroughAssay) {
    const Printed printed = assay({"gui", "--db", file(), "--dump", "overview"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_EQ(nlohmann::json::parse(printed.out)["view"], "overview");
}

}  // namespace
}  // namespace assay::testing
