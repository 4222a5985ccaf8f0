// assay plan trace as a user runs it: drawings and JSON against golden outputs, mistakes, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/golden.hpp"
#include "tests/cli/program.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Printed plan_trace(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"plan", "trace"});
    return run_program(ASSAY_DUMMY_PROGRAM, std::move(arguments));
}

const std::vector<std::string> clamped{"p3-80min", "--map", "delta_clamped", "--nodes", "10",
                                       "--floor",  "3"};
const std::vector<std::string> hourly{"--generate", "hourly", "--hours",           "12",
                                      "--nodes",    "8",      "--loss-per-hour",   "0.1",
                                      "--seed",     "7",      "--return-per-hour", "0.4"};

TEST(PlanTrace, MatchesItsGoldenOutputs) {
    const Printed drawn = plan_trace(clamped);
    EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
    expect_golden("cli_plan_trace.txt", drawn.out);
    std::vector<std::string> as_json = clamped;
    as_json.emplace_back("--json");
    expect_golden("cli_plan_trace.json", plan_trace(as_json).out);
    expect_golden("cli_plan_trace_hourly.txt", plan_trace(hourly).out);
}

TEST(PlanTrace, ATraceWithoutANodeIsNone) {
    const TemporaryFolder folder;
    const std::string file = (folder / "none.toml").string();
    std::ofstream(file) << "says = \"nothing\"\nduration_s = 100\n";
    const Printed printed = plan_trace({file});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.err, HasSubstr("no node in it; give a [[change]]"));
}

TEST(PlanTrace, JsonSaysWhatTheDrawingSays) {
    const json all = json::parse(plan_trace({"p3-80min", "--map", "tracked", "--json"}).out);
    EXPECT_EQ(all["statistics"]["largest_loss"], 6);
    EXPECT_EQ(all["statistics"]["largest_loss_share"], 0.1875);
    EXPECT_EQ(all["mapped"]["alive"], json({10, 9, 7, 6, 5}));
    EXPECT_THAT(all["mapped"]["faults"].get<std::string>(), StartsWith("kill:rank=2@t=2040"));
    const json bare =
        json::parse(plan_trace({"p3-80min", "--from", "30", "--to", "40", "--json"}).out);
    EXPECT_EQ(bare["mapped"], nullptr);
    EXPECT_EQ(bare["duration_s"], 600);
    EXPECT_EQ(bare["t_s"], json({0.0, 240.0}));
    EXPECT_EQ(bare["alive"], json({32, 28}));
}

TEST(PlanTrace, AWrittenTraceIsReadBack) {
    const TemporaryFolder folder;
    const std::string file = (folder / "mine.toml").string();
    std::vector<std::string> arguments = hourly;
    arguments.insert(arguments.end(), {"--out", file, "--json"});
    json drawn = json::parse(plan_trace(arguments).out);
    json read = json::parse(plan_trace({file, "--json"}).out);
    EXPECT_EQ(read["id"], "mine");
    drawn.erase("id");
    read.erase("id");
    EXPECT_EQ(read, drawn);
}

TEST(PlanTrace, SaysWhyThereAreNoFaultsAndWhenTheFirstNodeComes) {
    const TemporaryFolder folder;
    const auto mapped = [&](const char* csv) {
        std::ofstream(folder / "t.csv") << csv;
        return plan_trace({(folder / "t.csv").string(), "--map", "min", "--nodes", "1"}).out;
    };
    EXPECT_THAT(mapped("0,add,a\n0,add,b\n600000,add,c\n"),
                HasSubstr("1 workers, and no faults: the trace has no loss"));
    EXPECT_THAT(mapped("0,add,a\n0,add,b\n60000,remove,b\n"),
                HasSubstr("no faults: the mapping hides every loss"));
    std::ofstream(folder / "late.csv") << "90000,add,a\n180000,add,b\n";
    EXPECT_THAT(plan_trace({(folder / "late.csv").string()}).out,
                HasSubstr("nobody is there until       90 s"));
}

TEST(PlanTrace, MistakesAreOneSentenceAndExitCodeOne) {
    const TemporaryFolder folder;
    const auto file = [&](const char* name, const std::string& text) {
        std::ofstream(folder / name) << text;
        return (folder / name).string();
    };
    const std::string torn = file("torn.csv", "0,add,a\n5,add\n");
    const std::string deadly = file("deadly.csv",
                                    "0,add,a\n0,add,b\n60000,remove,a\n"
                                    "180000,remove,b\n240000,add,c\n");
    struct {
        std::vector<std::string> arguments;
        std::string says;
    } const mistakes[] = {
        {{}, "give a trace (a file or an id), or --generate"},
        {{"p3-80min", "--generate", "poisson"}, "a file or an id) or --generate, not both"},
        {{"p3-8Omin"}, "did you mean 'p3-80min'?"},
        {{"no/such.csv"}, "no/such.csv: No such file"},
        {{torn}, torn + ":2: expected 3 fields"},
        {{deadly, "--map", "min", "--nodes", "2"}, "leaves nobody alive at 180 s (minute 3)"},
        {{"p3-80min", "--map", "max"}, "min,delta_clamped,tracked,scaled"},
        {{"p3-80min", "--map", "min", "--nodes", "0"}, "1 to 10000 workers, not 0"},
        {{"p3-80min", "--map", "delta_clamped", "--nodes", "2", "--floor", "3"}, "0 to 2 workers"},
        {{"p3-80min", "--nodes", "3"}, "--nodes says how many workers --map keeps"},
        {{"p3-80min", "--hours", "3"}, "--hours requires --generate"},
        {{"p3-80min", "--floor", "3"}, "--floor requires --map"},
        {{"p3-80min", "--to", "81"}, "no part from 0 s to 4860 s"},
        {{"p3-80min", "--from", "9", "--to", "9"}, "no part from 540 s to 540 s"},
        {{"p3-80min", "--out", "trace.csv"}, "a trace is written as .toml"},
        {{"--generate", "hourly", "--loss-per-hour", "1.5"}, "a probability from 0 to 1"},
        {{"--generate", "poisson", "--seed", "-1"}, "--seed '-1'"},
    };
    for (const auto& mistake : mistakes) {
        const Printed printed = plan_trace(mistake.arguments);
        const std::string line = ::testing::PrintToString(mistake.arguments);
        EXPECT_EQ(printed.exit_code, 1) << line;
        EXPECT_THAT(printed.err, AllOf(StartsWith("assay: "), HasSubstr(mistake.says))) << line;
        EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1) << printed.err;
        EXPECT_EQ(printed.out, "") << line;
    }
}

}  // namespace
}  // namespace assay::testing
