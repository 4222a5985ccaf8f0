// The command line over the dummy system as a whole: outputs, exit codes, sentences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/golden.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CommandLineTest : public ProgramTest {
  protected:
    CommandLineTest() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}
};

TEST_F(CommandLineTest, ListAndDescribeMatchTheirGoldenOutputs) {
    expect_golden("cli_list.json", assay({"list", "--json"}).out);
    expect_golden("cli_list.txt", assay({"list"}).out);
    expect_golden("cli_describe.json", assay({"describe", "dummy/sum", "--json"}).out);
    expect_golden("cli_describe.txt", assay({"describe", "dummy/sum"}).out);
}

TEST_F(CommandLineTest, RunAndClaimsMatchTheirGoldenOutputs) {
    expect_golden("cli_claims_before.json", assay({"claims", "--json"}).out);
    const Printed run = assay({"run", "dummy/sum", "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    expect_golden("cli_run.json", masked(run.out, folder.path()));
    expect_golden("cli_claims.json", assay({"claims", "--json"}).out);
    expect_golden("cli_claims.txt", assay({"claims"}).out);
    expect_golden("cli_run.txt", masked(assay({"run", "dummy/sum"}).out, folder.path()));
    expect_golden("cli_dry_run.txt", assay({"run", "dummy/sum", "--dry-run"}).out);
}

TEST_F(CommandLineTest, JsonShapesHaveTheAgreedKeys) {
    const auto has_keys = [](const json& object, std::initializer_list<const char*> keys) {
        for (const char* key : keys) EXPECT_TRUE(object.contains(key)) << key;
    };
    for (const json& row : assay_json({"list"}))
        has_keys(row, {"id", "system", "title", "profiles", "claims"});
    const json run = assay_json({"run", "dummy/sum"});
    has_keys(run, {"session", "samples", "claims"});
    ASSERT_EQ(run["samples"].size(), 6U);
    for (const json& row : run["samples"])
        has_keys(row, {"id", "experiment", "variant", "case", "profile", "provenance", "scenario",
                       "seed", "status", "metrics"});
    EXPECT_EQ(run["samples"][4]["metrics"]["total"], 12);
    EXPECT_EQ(run["samples"][4]["metrics"]["term{i=3}"], 6);
    const json claims = assay_json({"claims"});
    EXPECT_EQ(claims, run["claims"]);
    EXPECT_EQ(assay_json({"claims", "--again"}), run["claims"]);
    for (const json& row : claims)
        has_keys(row, {"id", "experiment", "says", "value", "unit", "verdict", "reason",
                       "provenance", "obtained", "source"});
}

TEST_F(CommandLineTest, MistakesAreOneSentenceAndExitCodeOne) {
    struct {
        std::vector<std::string> arguments;
        const char* says;
    } const mistakes[] = {
        {{"rum"}, "`assay` has no 'rum'; did you mean 'run'? known: run, "},
        {{"run"}, "experiments is required"},
        {{"run", "dummy/sun"}, "dummy/sum"},
        {{"describe", "nothing-like-it"}, "nothing-like-it"},
        {{"run", "dummy/sum", "-a", "nodes=3"}, "no axis 'nodes'"},
        {{"run", "dummy/sum", "-a", "kind=silly"}, "plain, fancy"},
        {{"run", "dummy/sum", "-a", "kind"}, "AXIS=VALUE"},
        {{"run", "dummy/sum", "-a", "kind=,"}, "empty value"},
        {{"run", "dummy/sum", "--profile", "huge"}, "one of toy, small"},
        {{"run", "dummy/sum", "--mode", "guessed"}, "one of exact, measured"},
        {{"run", "dummy/sum", "--mode", "measured"}, "cannot be measured"},
        {{"run", "dummy/sum", "--rounds", "0"}, "at least 1"},
        {{"run", "dummy/sum", "--rounds", "many"}, "--rounds"},
        {{"run", "dummy/sum", "--seed", "-1"}, "from 0 to 18446744073709551615"},
        {{"run", "dummy/sum", "--seed", "18446744073709551616"}, "from 0 to 18446744073709551615"},
        {{"run", "dummy/sum", "--seed", "one"}, "'one': give a whole number from 0 to "},
        {{"run", "dummy/sum", "--seed", "1x"}, "'1x': give a whole number from 0 to "},
        {{"run", "dummy/sum", "--timeout", "0"}, "more than 0"},
        {{"run", "dummy/sum", "--timeout", "nan"}, "timeout"},
        {{"run", "dummy/sum", "--fault", "kill:rank=1@step=5"}, "takes no faults"},
        {{"run", "dummy/behave", "--fault", "explode:rank=1"}, "explode"},
        {{"run", "dummy/behave", "--scenario", "/nonexistent.toml"}, "/nonexistent.toml"},
        {{"run", "dummy/sum", "--events", "xml"}, "only jsonl"},
        {{"run", "dummy/sum", "--events", "jsonl", "--json"}, "one of them"},
        {{"run", "dummy/sum", "--no-such-flag"}, "`assay run` has no option --no-such-flag; "},
        {{"run", "dummy/sum", "--frsh"}, "no option --frsh; did you mean --fresh? `assay run --h"},
        {{"run", "dummy/sum", "--sed=3", "--db", "x"}, "did you mean --seed?"},
        {{"compare", "--margn", "2%"},
         "`assay compare` has no option --margn; did you mean --margin?"},
        {{"run", "dummy/sum", "--rounds", "1.5"}, "--rounds = 1.5"},
        {{"run", "dummy/sum", "--jobs", "1e9"}, "--jobs"},
        {{"help", "rum"}, "`assay` has no 'rum'; did you mean 'run'? known: run, "},
        {{"help", "data", "fetsh"}, "`assay data` has no 'fetsh'; did you mean 'fetch'?"},
        {{"reproduce", "dummy/sum", "-o", "/proc/version/r.html"}, "is a file, not a folder"},
        {{"claims", "dummy/sum/twize"}, "did you mean 'dummy/sum/twice'?"},
        {{"claims", "dummy/sam"}, "'dummy/sam'; did you mean 'dummy/sum'? `assay claims`"},
        {{"claims", "dumy"}, "did you mean 'dummy'?"},
        {{"claims", "--verdict", "maybe"}, "one of supported"},
        {{"claims", "--db", "/nonexistent/results.db"}, "/nonexistent/results.db"},
        {{"replay", "12345678"}, "no results yet"},
        {{"report"}, "no results yet"},
        {{"export", "--csv"}, "no results yet"},
        {{"export"}, "Give one of --csv"},
        {{"db"}, "subcommand"},
        {{"db", "nosuch"}, "`assay db` has no 'nosuch'; known: check, migrate, prune, merge"},
        {{"db", "chek"}, "did you mean 'check'? known: check, migrate, prune, merge"},
        {{"data", "nosuch"}, "`assay data` has no 'nosuch'; known: list, fetch, check"},
        {{"db", "check", "more"}, "more; `assay db check --help`"},
        {{"db", "check"}, "no results yet"},
        {{"db", "prune"}, "prune what?"},
        {{"db", "merge", "/nonexistent.db"}, "/nonexistent.db"},
        {{"sample"}, "use `assay run`"},
        // What a script's variable leaves that is not set.
        {{"claims", "--db", ""}, "--db is empty: leave it out or give it a value"},
        {{"claims", "--db=", "dummy/sum"}, "--db is empty"},
        {{"nightly", "s.toml", "--baseline", ""}, "--baseline is empty"},
        {{"nightly", "s.toml", "--junit="}, "--junit is empty"},
        {{"run", "dummy/sum", "--rounds", ""}, "--rounds is empty"},
        {{"run", "dummy/sum", "-a", ""}, "--axis is empty"},
        {{"run", "dummy/sum", ""}, "the argument 'experiments' is empty"},
        {{"reproduce", "dummy/sum", "-o", ""}, "--output is empty"},
        {{"plan", "trace", "--generate", ""}, "--generate is empty"},
        {{"annotate", "12345678", ""}, "the argument 'text' is empty"},
        {{"mute", "x", "--why", ""}, "--why is empty"},
        {{"doctor", ""}, "argument 2 is empty"},
        {{""}, "argument 1 is empty"},
        // What contradicts itself, or would go where nobody looks.
        {{"mute", "x", "--all"}, "--all is for the list of mutes: leave it out to mute 'x'"},
        {{"mute", "x", "--json"}, "--json is for the list of mutes"},
        {{"mute", "--until", "2031-01-01"}, "`assay mute 'ROW PATTERN' --until …` mutes, `assay"},
        {{"mute", "--why", "noisy", "--all"}, "--why says how to mute, but not what"},
        {{"nightly", "s.toml", "--junit", "-", "--html", "/dev/stdout"},
         "--junit and --html both write to standard output"},
        {{"nightly", "s.toml", "--json", "--markdown", "-"}, "--json and --markdown both write"},
        {{"report", "-o", "-", "--json"}, "-o and --json both write to standard output"},
        {{"report", "--text", "--json"}, "--text and --json both write to standard output"},
        {{"reproduce", "dummy/sum", "-o", "-", "--json"}, "-o and --json both write"},
        {{"highlights", "-o", "-", "--json"}, "-o and --json both write"},
        {{"claims", "--summary", "--markdown", "--json"}, "--markdown and --json both write"},
        {{"reproduce", "dummy/sum", "-o", "/nonexistent/r.html"},
         "-o /nonexistent/r.html: the folder /nonexistent does not exist; `mkdir -p /nonexistent`"},
        {{"export", "--to", "-"}, "--to writes a file"},
        {{"run", "dummy/sum", "--db", "/nonexistent/r.db"},
         "cannot begin the results database /nonexistent/r.db: the folder /nonexistent does not"},
        {{"claims", "--db", "/proc"}, "/proc is a folder; name a results file in it"},
        {{"run", "dummy/sum", "--db", "/proc"}, "/proc is a folder; name a results file in it"},
    };
    for (const auto& mistake : mistakes) {
        const Printed printed = assay(mistake.arguments);
        const std::string line = ::testing::PrintToString(mistake.arguments);
        EXPECT_EQ(printed.exit_code, 1) << line;
        EXPECT_THAT(printed.err, AllOf(StartsWith("assay: "), HasSubstr(mistake.says))) << line;
        EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1) << printed.err;
        EXPECT_EQ(printed.out, "") << line;
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db")) << "a mistake made a database";
}

TEST_F(CommandLineTest, HelpAndVersionAreNotErrors) {
    for (const char* flag : {"--help", "--version"}) {
        const Printed printed = assay({flag});
        EXPECT_EQ(printed.exit_code, 0);
        EXPECT_EQ(printed.err, "");
    }
    EXPECT_THAT(assay({"--help"}).out,
                AllOf(HasSubstr("Examples:"), Not(HasSubstr("started by assay itself"))));
    EXPECT_THAT(assay({"run", "--help"}).out, AllOf(HasSubstr("--fault"), HasSubstr("Examples:")));
    for (const std::vector<std::string>& command : {std::vector<std::string>{"run"},
                                                    {"reproduce"},
                                                    {"replay"},
                                                    {"list"},
                                                    {"describe"},
                                                    {"plan"},
                                                    {"claims"},
                                                    {"report"},
                                                    {"export"},
                                                    {"db"},
                                                    {"db", "check"},
                                                    {"db", "prune"},
                                                    {"db", "merge"},
                                                    {"data"},
                                                    {"data", "fetch"},
                                                    {"doctor"}}) {
        std::vector<std::string> arguments = command;
        arguments.emplace_back("--help");
        EXPECT_THAT(assay(arguments).out, Not(HasSubstr("Exit codes:")))
            << ::testing::PrintToString(command) << " has the program's own footer";
    }
    EXPECT_THAT(assay({"db", "prune", "--help"}).out, HasSubstr("assay db prune --unsuccessful"));
    EXPECT_THAT(assay({"--version"}).out, AllOf(StartsWith("assay 0."), HasSubstr("build id ")));
}

TEST_F(CommandLineTest, HelpIsACommandToo) {
    EXPECT_EQ(assay({"help"}).out, assay({"--help"}).out);
    EXPECT_EQ(assay({"help", "run"}).out, assay({"run", "--help"}).out);
    EXPECT_EQ(assay({"help", "run", "dummy/sum"}).out, assay({"run", "--help"}).out);
    EXPECT_EQ(assay({"help", "data", "fetch"}).out, assay({"data", "fetch", "--help"}).out);
    EXPECT_EQ(assay({"help", "run"}).exit_code, 0);
}

TEST_F(CommandLineTest, CountsMayBeWrittenAsLargeOnesAre) {
    const auto samples = [this](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", "dummy/sum", "--dry-run"});
        return assay_json(std::move(more))["samples"].size();
    };
    EXPECT_EQ(samples({"--rounds", "10", "--jobs", "20"}), 60U);
    EXPECT_EQ(samples({"--rounds", "1e1", "--jobs", "2e1"}), 60U);
    EXPECT_EQ(samples({"--rounds=0.1e2"}), 60U);
    EXPECT_EQ(samples({"-a", "n=2e0"}), 3U);
}

TEST_F(CommandLineTest, WhatMayFollowIsWhatTheCommandsDeclare) {
    const auto complete = [this](std::vector<std::string> words) {
        words.insert(words.begin(), "complete");
        return assay(std::move(words)).out;
    };
    EXPECT_EQ(complete({"data", ""}), "list\nfetch\ncheck\n");
    EXPECT_EQ(complete({"rep"}), "reproduce\nreplay\nreport\n");
    EXPECT_EQ(complete({"run", "dummy/s"}), "dummy/sum\n");
    EXPECT_EQ(complete({"run", "dummy/sum", "--rou"}), "--rounds\n");
    EXPECT_EQ(complete({"run", "--rounds", ""}), "");
    EXPECT_EQ(complete({"run", "--fresh", "dummy/s"}), "dummy/sum\n");
    EXPECT_EQ(complete({"run", "--profile", "s"}), "small\n");
    EXPECT_EQ(complete({"run", "--profile=s"}), "--profile=small\n");
    EXPECT_EQ(complete({"run", "--profile", "=", "s"}), "small\n");  // bash, of --profile=s
    EXPECT_EQ(complete({"run", "--profile", "="}), complete({"run", "--profile", ""}));
    EXPECT_EQ(complete({"sam"}), "") << "a hidden command";
    EXPECT_EQ(complete({}), "");
}

TEST_F(CommandLineTest, ThePageForManHasEveryVisibleCommand) {
    const std::string page = assay({"man"}).out;
    EXPECT_THAT(page, AllOf(StartsWith(".TH ASSAY 1 "), HasSubstr("\n.SS assay run\n"),
                            HasSubstr("\n.SS assay data fetch\n"), HasSubstr("\\-\\-rounds"),
                            Not(HasSubstr(".SS assay sample"))));
}

TEST_F(CommandLineTest, FilesAreWhatTheirNamesSay) {
    struct {
        std::vector<std::string> arguments;
        const char* says;
    } const refused[] = {
        {{"report", "-o", "x.png"}, "rsvg-convert -f png x.svg -o x.png"},
        {{"report", "-o", "x.pdf"}, "written as one of .html, .htm, .svg, .txt, not as .pdf"},
        {{"report", "-o", "x.csv"}, "`assay export --csv -o x.csv`"},
        {{"report", "-o", "x.svg"}, "a picture shows one experiment, and 2 are asked for"},
        {{"report", "--text", "-o", "x.html"}, "--text writes .txt"},
        {{"reproduce", "dummy/sum", "-o", "x.png"}, "written as one of .html, .htm, not as .png"},
        {{"export", "--csv", "-o", "x.json"}, "written as .csv, not as .json"},
        {{"export", "--svg", "dummy/sum", "-o", "x.png"}, "rsvg-convert"},
        {{"export", "--to", "x.csv"}, "written as one of .db, .sqlite, .jsonl"},
        {{"export", "--to", "x.jsonl.gz"}, "not as .gz"},
        {{"history", "dummy/sum", "--svg", "x.png"}, "rsvg-convert"},
        {{"nightly", "s.toml", "--junit", "x.json"},
         "--junit x.json: this is written as .xml, not"},
        {{"nightly", "s.toml", "--markdown", "x.txt"}, "written as one of .md, .markdown, not as"},
        {{"nightly", "s.toml", "--html", "x.png"}, "rsvg-convert"},
    };
    for (const auto& row : refused) {
        const Printed printed = assay(row.arguments);
        EXPECT_EQ(printed.exit_code, 1) << ::testing::PrintToString(row.arguments);
        EXPECT_THAT(printed.err, HasSubstr(row.says));
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db")) << "it ran before it looked";
}

/// 2 would be a regression that nobody can read, 0 a success that nobody sees.
TEST_F(CommandLineTest, WhatCannotBePrintedIsAnError) {
    ASSERT_EQ(assay({"run", "dummy/sum"}).exit_code, 0);
    ASSERT_EQ(assay({"report", "--gate", "-o", "-"}).exit_code, 2) << "a contradicted claim";
    for (const std::string where : {"> /dev/full", ">&-"})
        for (const std::vector<std::string>& command : {std::vector<std::string>{"--help"},
                                                        {"--version"},
                                                        {"run", "--help"},
                                                        {"list"},
                                                        {"describe", "dummy/sum"},
                                                        {"run", "dummy/sum"},
                                                        {"run", "dummy/sum", "--json"},
                                                        {"run", "dummy/sum", "--events", "jsonl"},
                                                        {"run", "dummy/sum", "--dry-run"},
                                                        {"claims"},
                                                        {"claims", "--json"},
                                                        {"report", "--gate", "-o", "-"},
                                                        {"report", "--text"},
                                                        {"compare", "latest", "latest"},
                                                        {"history", "dummy/sum", "--csv"},
                                                        {"export", "--csv"},
                                                        {"plan", "trace", "p3-80min"},
                                                        {"mute"},
                                                        {"regressions"},
                                                        {"db", "check"}}) {
            std::vector<std::string> typed = {"-c", "exec \"$0\" \"$@\" " + where,
                                              ASSAY_DUMMY_PROGRAM};
            typed.insert(typed.end(), command.begin(), command.end());
            const Printed printed = run_program("/bin/sh", typed);
            EXPECT_EQ(printed.exit_code, 1) << ::testing::PrintToString(command) << where;
            EXPECT_THAT(printed.err, HasSubstr("cannot write to standard output"))
                << ::testing::PrintToString(command) << where;
        }
}

TEST_F(CommandLineTest, OnlyWhatStoresMakesADatabaseAndSaysWhere) {
    const EnvironmentVariable none("ASSAY_DB", ""), home("HOME", (folder / "home").string()),
        data("XDG_DATA_HOME", (folder / "home/data").string()),
        state("XDG_STATE_HOME", (folder / "home/state").string()),
        cache("XDG_CACHE_HOME", (folder / "home/cache").string()),
        runtime("XDG_RUNTIME_DIR", (folder / "home/run").string());
    std::filesystem::create_directories(folder / "home");
    const auto made = [&] { return !std::filesystem::is_empty(folder / "home"); };
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"list"},
          {"describe", "dummy/sum"},
          {"run", "dummy/sum", "--dry-run"},
          {"claims"},
          {"claims", "--again"},
          {"report"},
          {"report", "--text"},
          {"doctor"},
          {"data", "list"},
          {"data", "check"},
          {"data", "fetch", "no-such-data"},
          {"history", "dummy/sum"},
          {"compare", "latest~1", "latest"},
          {"export", "--csv"},
          {"export", "--to", (folder / "e.db").string()},
          {"import", (folder / "missing.jsonl").string()},
          {"db", "check"},
          {"db", "prune", "--unsuccessful"},
          {"db", "merge", (folder / "missing.db").string()},
          {"baseline", "list"},
          {"baseline", "accept", "cpu"},
          {"regressions"},
          {"mute"},
          {"annotate", "12345678", "a note"},
          {"replay", "12345678"},
          {"plan", "trace", "p3-80min"}}) {
        assay(command);
        ASSERT_FALSE(made()) << ::testing::PrintToString(command);
    }
    EXPECT_THAT(assay({"doctor"}).out, HasSubstr("none yet; the first run makes "));
    const std::string file = (folder / "home/data/assay/results.db").string();
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, HasSubstr("new database, " + file));
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, Not(HasSubstr("new database")));
    for (const auto& entry : std::filesystem::directory_iterator(folder / "home"))
        EXPECT_EQ(entry.path().filename(), "data");
}

TEST_F(CommandLineTest, WithJsonNothingElseIsOnStandardOutput) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"run", "dummy/sum"},
                                                    {"run", "dummy/sum", "--dry-run"},
                                                    {"list"},
                                                    {"claims"},
                                                    {"doctor"},
                                                    {"db", "check"},
                                                    {"data", "list"},
                                                    {"report", "-o", (folder / "r.html").string()}})
        EXPECT_NO_THROW(assay_json(command)) << ::testing::PrintToString(command);
}

}  // namespace
}  // namespace assay::testing
