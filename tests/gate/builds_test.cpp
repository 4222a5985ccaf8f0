// What a user asks between nights: two builds against each other, rounds until a verdict stands, a
// metric's history, and how good the gate is.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

/// The program twice, each in a folder in which a test can make that build slower.
class BuildsTest : public ProgramTest {
  protected:
    BuildsTest() : ProgramTest((programs() / "new" / "assay").string()) {
        for (const char* build : {"old", "new"}) {
            fs::create_directories(programs() / build);
            fs::copy_file(ASSAY_NIGHTLY_PROGRAM, programs() / build / "assay");
        }
    }
    ~BuildsTest() override { fs::remove_all(programs()); }

    static fs::path programs() {
        return fs::temp_directory_path() / ("assay-builds-test-" + std::to_string(::getpid()));
    }
    static std::string old_program() { return (programs() / "old" / "assay").string(); }
    static void slow(const std::string& build, const std::string& variant, double factor) {
        std::ofstream(programs() / build / ("factor." + variant)) << factor;
    }
    json versus(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"versus", old_program(), "night/work", "-a",
                                              "n=1",    "--margin",    "2%",         "--no-doctor"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return assay_json(arguments);
    }
    static json of_variant(const json& rows, const std::string& variant) {
        for (const json& row : rows)
            if (row["series"].get<std::string>().find(' ' + variant) != std::string::npos)
                return row;
        ADD_FAILURE() << "no " << variant << " in " << rows.dump(1);
        return json::object();
    }
};

TEST_F(BuildsTest, TheSlowerBuildIsFoundAndTheOtherVariantIsTheSame) {
    slow("new", "left", 1.2);
    const json rows = versus();
    ASSERT_EQ(rows.size(), 2u);
    const json left = of_variant(rows, "left");
    EXPECT_EQ(left["verdict"], "slower");
    EXPECT_NEAR(left["ratio"].get<double>(), 1.2, 0.01);
    EXPECT_GE(left["n_a"].get<int>(), 5);
    EXPECT_EQ(of_variant(rows, "right")["verdict"], "same");
    const Printed again = assay({"versus", old_program(), "night/work", "-a", "n=1", "--variant",
                                 "left", "--margin", "2%", "--no-doctor"});
    EXPECT_EQ(again.exit_code, 2) << again.err;
    const auto row = again.out.find("  left ");
    ASSERT_NE(row, std::string::npos) << again.out;
    EXPECT_EQ(again.out.find("  left ", row + 1), std::string::npos) << "one ratio per row\n"
                                                                     << again.out;
    EXPECT_THAT(again.out, HasSubstr("rounds of at most"));
    EXPECT_THAT(again.out, HasSubstr("once more: assay compare "));
}

TEST_F(BuildsTest, WhereHigherIsBetterTheSlowerBuildIsLower) {
    slow("new", "left", 1.2);
    const json left = of_variant(versus({"--metric", "per_second"}), "left");
    EXPECT_EQ(left["metric"], "per_second");
    EXPECT_EQ(left["verdict"], "slower");
    EXPECT_NEAR(left["ratio"].get<double>(), 1 / 1.2, 0.01);
}

TEST_F(BuildsTest, EqualBuildsEndEarlyAndTheExitCodeIsZero) {
    const Printed printed = assay({"versus", old_program(), "night/work", "-a", "n=1", "--margin",
                                   "2%", "--no-doctor", "--json"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.err,
                HasSubstr("results go to a new database, " + (folder / "results.db").string()));
    for (const json& row : json::parse(printed.out)) {
        EXPECT_EQ(row["verdict"], "same") << row.dump();
        EXPECT_LT(row["n_a"].get<int>(), 30);
    }
}

TEST_F(BuildsTest, WhatIsNoProgramOfThisKindIsRefused) {
    for (const std::string& what : {std::string("/bin/true"), (folder / "nothing").string()}) {
        const Printed printed = assay({"versus", what, "night/work", "--no-doctor"});
        EXPECT_EQ(printed.exit_code, 1) << what;
        EXPECT_THAT(printed.err, HasSubstr(what));
    }
    EXPECT_EQ(assay({"versus", old_program(), "night/work", "--metric", "weight"}).exit_code, 1);
    EXPECT_EQ(assay({"versus", old_program(), "night/work", "--budget", "soon"}).exit_code, 1);
}

TEST_F(BuildsTest, RoundsGoOnUntilTheVariantsAreToldApart) {
    slow("new", "right", 1.1);
    const json told = assay_json(
        {"run", "night/work", "-a", "n=1", "--until-decided", "--margin", "2%", "--no-doctor"});
    ASSERT_EQ(told["contrasts"].size(), 1u);
    const json contrast = told["contrasts"][0];
    EXPECT_EQ(contrast["variant"], "right");
    EXPECT_EQ(contrast["against"], "left");
    EXPECT_EQ(contrast["verdict"], "slower");
    EXPECT_LT(contrast["rounds"].get<int>(), 15);
    EXPECT_GT(told["saved"].get<int>(), 0);
    const json turned = assay_json({"run", "night/work", "-a", "n=1", "--until-decided",
                                    "--against", "right", "--margin", "2%", "--no-doctor"});
    EXPECT_EQ(turned["contrasts"][0]["verdict"], "faster");
    const Printed both = assay({"run", "night/work", "--until-decided", "--rounds", "3"});
    EXPECT_EQ(both.exit_code, 1);
    EXPECT_THAT(both.err, HasSubstr("exclude each other"));
}

TEST_F(BuildsTest, AHistoryShowsWhereTheMetricChanged) {
    for (int session = 0; session < 16; ++session) {
        slow("new", "left", session < 9 ? 1.0 : 1.3);
        ASSERT_EQ(
            assay({"run", "night/work", "-a", "n=1", "--rounds", "1", "--no-doctor", "--fresh"})
                .exit_code,
            0);
    }
    const std::vector<std::string> left = {"history", "night/work", "--metric",
                                           "seconds", "--variant",  "left"};
    const json trends = assay_json(left);
    ASSERT_EQ(trends.size(), 1u);
    EXPECT_EQ(trends[0]["points"].size(), 16u);
    ASSERT_EQ(trends[0]["changes"].size(), 1u) << trends[0].dump(1);
    EXPECT_EQ(trends[0]["changes"][0]["index"], 9);
    EXPECT_NEAR(trends[0]["changes"][0]["relative_change"].get<double>(), 0.3, 0.01);
    const json right =
        assay_json({"history", "night/work", "--metric", "seconds", "--variant", "right"});
    EXPECT_TRUE(right[0]["changes"].empty());

    const Printed drawn = assay(left);
    EXPECT_EQ(drawn.exit_code, 0);
    EXPECT_THAT(drawn.out, HasSubstr("30"));
    EXPECT_THAT(assay({"history", "night/work"}).out, HasSubstr("4 series; narrow with"));
    EXPECT_EQ(assay_json({"history", "night/work left n=1 · seconds"}).size(), 1u)
        << "as reports call it";
    EXPECT_EQ(assay_json({"history", "night/* left *"}).size(), 2u);
    EXPECT_THAT(assay({"history", "night/work middle"}).err, HasSubstr("no row is called"));
    EXPECT_THAT(assay({"history", "night/work left n=1", "--profile", "gpu"}).err,
                HasSubstr("series of night/work"));
    const fs::path svg = folder / "trend.svg";
    std::vector<std::string> draw = left;
    draw.insert(draw.end(), {"--svg", svg.string()});
    EXPECT_EQ(assay(draw).exit_code, 0);
    EXPECT_THAT(contents(svg), HasSubstr("<svg"));
    EXPECT_EQ(assay({"history", "night/*", "--svg", svg.string()}).exit_code, 1);
    EXPECT_EQ(assay({"history", "nothing/at-all"}).exit_code, 1);
    EXPECT_EQ(assay({"history", "night/work", "--p", "2"}).exit_code, 1);
}

TEST_F(BuildsTest, TheGateIsQualifiedFromARecordedPool) {
    std::ofstream(folder / "tiny.toml") << "name = \"tiny\"\nrounds = 5\nmargin = 0.02\n"
                                           "control = false\n[[experiment]]\n"
                                           "patterns = [\"night/work\"]\naxes = { n = 1 }\n";
    const std::string suite = (folder / "tiny.toml").string();
    const auto qualify = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = {"qualify",  suite, "--campaigns", "3",
                                              "--trials", "10",  "--no-doctor", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return assay(arguments);
    };
    const Printed printed = qualify({"--rounds", "20", "--slowed", "10"});
    EXPECT_EQ(printed.exit_code, 2) << "four rows are too few to be fit" << printed.err;
    const json told = json::parse(printed.out);
    EXPECT_FALSE(told["fit"].get<bool>());
    EXPECT_EQ(told["pool"]["rounds"], 20);
    ASSERT_EQ(told["rows"].size(), 4u);
    EXPECT_EQ(told["quiet"]["nights"], 60);
    EXPECT_EQ(told["quiet"]["false_alarms"], 0);
    EXPECT_EQ(told["quiet"]["provenance"], "resampled");
    EXPECT_EQ(told["detection"]["emulated"]["10"], 1);
    EXPECT_EQ(told["detection"]["emulated"]["1"], 0);
    // Its time is set, not taken: samples that are slowed while they run are none the slower.
    EXPECT_EQ(told["detection"]["measured"]["10"], 0);
    for (const json& row : told["rows"])
        EXPECT_NEAR(row["measured_slowdown"]["10"].get<double>(), 1, 0.01);

    const std::string session = told["pool"]["session"];
    const json again = json::parse(qualify({"--session", session.substr(0, 8)}).out);
    EXPECT_EQ(again, told) << "the same pool says the same";
    EXPECT_EQ(qualify({"--rounds", "9"}).exit_code, 1);
    EXPECT_EQ(qualify({"--session", "ffffffff"}).exit_code, 1);
    const Printed plan = assay({"qualify", suite, "--rounds", "20", "--slowed", "10", "--dry-run"});
    EXPECT_THAT(plan.out, HasSubstr("80"));
}

}  // namespace
}  // namespace assay::testing
