// The command line over the dummy system: outputs, exit codes, sentences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/golden.hpp"
#include "tests/cli/program_test.hpp"
#include "tests/measure/machine_folder.hpp"
#include "tests/runner/processes.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
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

TEST_F(CommandLineTest, GateTurnsAContradictedClaimIntoExitCodeTwo) {
    EXPECT_EQ(assay({"run", "dummy/sum"}).exit_code, 0);
    EXPECT_EQ(assay({"run", "dummy/sum", "--gate"}).exit_code, 2);
    EXPECT_EQ(assay({"claims"}).exit_code, 0);
    EXPECT_EQ(assay({"claims", "--gate"}).exit_code, 2);
    EXPECT_EQ(assay({"claims", "dummy/sum/twice", "--gate"}).exit_code, 0);
    EXPECT_EQ(assay({"claims", "--gate", "--verdict", "supported"}).exit_code, 0);
}

TEST_F(CommandLineTest, ExitCodeTellsFailureAndLackOfSupport) {
    const Printed failed = assay({"run", "dummy/behave", "-a", "how=throw,well"});
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_THAT(failed.out, HasSubstr("the experiment gave up"));
    EXPECT_EQ(assay({"run", "dummy/behave", "-a", "how=unsupported"}).exit_code, 4);
    EXPECT_EQ(assay({"run", "dummy/behave", "-a", "how=invalid"}).exit_code, 0);
    EXPECT_EQ(assay({"run", "dummy/behave", "-a", "how=invalid", "--gate"}).exit_code, 3);
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

TEST_F(CommandLineTest, ScenarioMistakesNameFileAndLine) {
    const auto file = folder / "scenario.toml";
    std::ofstream(file) << "[[fault]]\nkind = \"kill\"\nrank = \n";
    const Printed printed = assay({"run", "dummy/behave", "--scenario", file.string()});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.err, AllOf(StartsWith("assay: "), HasSubstr("scenario.toml:3")));
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

TEST_F(CommandLineTest, EachFaultPlanIsToldOnceBeforeItStrikes) {
    const Printed own = assay({"run", "dummy/behave", "--rounds", "2", "--fault",
                               "kill:rank=0@step=1", "--fault", "hang:rank=1@step=2,for=3"});
    EXPECT_EQ(own.exit_code, 0) << own.err;
    const std::string told = "faults: kill:rank=0@step=1; hang:rank=1@step=2,for=3\n";
    const auto at = own.err.find(told);
    ASSERT_NE(at, std::string::npos) << own.err;
    EXPECT_LT(at, own.err.find("[1/2"));
    EXPECT_EQ(own.err.find("faults:", at + 1), std::string::npos) << own.err;
    EXPECT_THAT(assay({"run", "dummy/behave", "--json"}).err,
                HasSubstr("faults: kill:rank=1@step=5\n"));
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, Not(HasSubstr("faults:")));
}

TEST_F(CommandLineTest, NoTableWithoutAFinishedSample) {
    const Printed failed = assay({"run", "dummy/behave", "-a", "how=throw"});
    EXPECT_THAT(failed.out, AllOf(HasSubstr("[measured, toy]\nno finished sample\n"),
                                  Not(HasSubstr("variant  "))));
    EXPECT_THAT(assay({"run", "dummy/behave", "-a", "how=throw,well"}).out,
                Not(HasSubstr("no finished sample")));
}

TEST_F(CommandLineTest, EventsAreJsonLinesFromBeginningToEnd) {
    const Printed printed =
        assay({"run", "dummy/sum", "-a", "n=2", "--events", "jsonl", "--rounds", "2"});
    EXPECT_EQ(printed.exit_code, 0);
    std::istringstream lines(printed.out);
    std::vector<json> events;
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
    ASSERT_GE(events.size(), 3U);
    EXPECT_EQ(events.front()["kind"], "session");
    EXPECT_EQ(events.back()["kind"], "finished");
    EXPECT_EQ(events.back()["done"], 6);
    long finished = 0;
    for (const json& event : events) finished += event["kind"] == "sample_finished";
    EXPECT_EQ(finished, 6);
}

TEST_F(CommandLineTest, CtrlCStopsCleanlyAndTheSameCommandGoesOn) {
    const std::vector<std::string> command{"run",      "dummy/behave", "-a",    "how=slow",
                                           "--rounds", "40",           "--json"};
    const Printed first = assay(command, [&](pid_t pid) {
        // Not before it is at work: until then a signal ends it like any program.
        eventually([&] { return std::filesystem::exists(folder / "lock"); });
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        ::kill(pid, SIGINT);
    });
    EXPECT_EQ(first.exit_code, 1) << first.err;
    const json stopped = json::parse(first.out);
    EXPECT_TRUE(stopped["interrupted"]);
    ASSERT_FALSE(stopped["samples"].empty());
    const Printed second = assay(command);
    EXPECT_EQ(second.exit_code, 0) << second.err;
    const json finished = json::parse(second.out);
    EXPECT_EQ(finished["session"], stopped["session"]);
    EXPECT_EQ(finished["samples"].size(), 40U);
    EXPECT_THAT(second.err, HasSubstr("resuming session"));
}

TEST_F(CommandLineTest, ReplayAgreesAndNoticesWhenItDoesNot) {
    const json run = assay_json({"run", "dummy/sum"});
    const std::string id = run["samples"][4]["id"];
    const Printed same = assay({"replay", id.substr(0, 10), "--json"});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_TRUE(json::parse(same.out)["agrees"]);
    EXPECT_EQ(json::parse(same.out)["deterministic"], 4);
    EXPECT_TRUE(json::parse(same.out)["same_data"].is_null()) << "it reads no file";
    // A sample without deterministic metrics can only be looked at.
    const std::string other = assay_json({"run", "dummy/behave"})["samples"][0]["id"];
    EXPECT_EQ(assay({"replay", other}).exit_code, 3);
    EXPECT_EQ(assay({"replay", "ffffffffffff"}).exit_code, 1);
}

TEST_F(CommandLineTest, ReplaySaysThatItsFilesHaveOtherContent) {
    const EnvironmentVariable input("ASSAY_TEST_INPUT", (folder / "numbers").string());
    std::ofstream(folder / "numbers") << "1 2 3";
    const std::string id = assay_json({"run", "dummy/sum"})["samples"][0]["id"];
    EXPECT_TRUE(assay_json({"replay", id})["same_data"].get<bool>());
    std::ofstream(folder / "numbers") << "1 2 4";
    EXPECT_FALSE(assay_json({"replay", id})["same_data"].get<bool>());
    EXPECT_THAT(assay({"replay", id}).out, HasSubstr("have other content now"));
    // What differs may be the file's doing.
    std::ofstream(folder / "numbers") << "2 2 3";
    const Printed differs = assay({"replay", id, "--json"});
    EXPECT_EQ(differs.exit_code, 3) << differs.err;
    EXPECT_FALSE(json::parse(differs.out)["agrees"].get<bool>());
    // Also where it is known what it must be.
    const EnvironmentVariable known("ASSAY_TEST_INPUT_SHA256", std::string(64, '0'));
    EXPECT_EQ(assay({"run", "dummy/sum"}).exit_code, 1);
    const Printed damaged = assay({"replay", id});
    EXPECT_EQ(damaged.exit_code, 3) << damaged.err;
    EXPECT_THAT(damaged.out, HasSubstr("have other content now"));
}

TEST_F(CommandLineTest, ReproduceWritesTheReport) {
    const auto file = folder / "sub/report.html";
    const Printed printed = assay({"reproduce", "dummy/sum", "-o", file.string()});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, AllOf(HasSubstr("Expected and obtained"), HasSubstr(file.string())));
    EXPECT_THAT(contents(file), AllOf(HasSubstr("<svg"), HasSubstr("dummy/sum")));
    const Printed report = assay({"report", "dummy/sum", "-o", "-"});
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_THAT(report.out, HasSubstr("<html"));
    EXPECT_EQ(assay({"report", "--gate", "-o", file.string()}).exit_code, 2);
}

TEST_F(CommandLineTest, ARunShowsItsFigureAndWhereTheRestIs) {
    const std::string out = assay({"run", "dummy/sum", "-a", "n=2,3"}).out;
    EXPECT_THAT(
        out,
        AllOf(HasSubstr("\nsamples  6 ok\n"),
              HasSubstr("picture  assay report dummy/sum -o sum.svg\n"),
              HasSubstr("claims   1 of 2 checked hold, 1 contradicted (assay claims dummy/sum)\n"),
              Not(HasSubstr("claimed is"))));
    const std::string all = assay({"run", "dummy/sum", "--all-metrics"}).out;
    EXPECT_THAT(all, HasSubstr("seed_seen"));
    const std::string picture = (folder / "sum.svg").string();
    EXPECT_EQ(assay({"report", "dummy/sum", "-o", picture}).exit_code, 0);
    EXPECT_THAT(contents(picture), StartsWith("<svg"));
    EXPECT_THAT(assay({"report", "dummy/sum", "--text"}).out, HasSubstr("seed_seen"));
    // Where it is not the usual database, the commands say so.
    const std::string other = (folder / "other.db").string();
    EXPECT_THAT(assay({"run", "dummy/sum", "--db", other}).out,
                HasSubstr("-o sum.svg --db " + other + "\n"));
}

TEST_F(CommandLineTest, AReportLeavesOutWhatHasNoSamples) {
    assay({"run", "dummy/sum"});
    const std::string page = (folder / "r.html").string();
    const Printed printed = assay({"report", "-o", page});
    EXPECT_THAT(printed.out, HasSubstr("1 of 2 experiments has no samples and is left out; "
                                       "`assay run dummy/behave`, for example, makes some\n"));
    EXPECT_THAT(contents(page),
                AllOf(HasSubstr("id=\"s-dummy-sum\""), Not(HasSubstr("id=\"s-dummy-behave\"")),
                      HasSubstr("<code>dummy/behave</code>")));
    const Printed none = assay({"report", "dummy/behave", "-o", page});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("no samples of dummy/behave in "));
    assay({"run", "dummy/behave", "-a", "how=unsupported", "--rounds", "5"});
    assay({"report", "-o", page});
    EXPECT_THAT(contents(page), HasSubstr("5 samples, the first is "));
    EXPECT_THAT(contents(page), HasSubstr("No sample of it has ended well."));
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
    };
    for (const auto& row : refused) {
        const Printed printed = assay(row.arguments);
        EXPECT_EQ(printed.exit_code, 1) << ::testing::PrintToString(row.arguments);
        EXPECT_THAT(printed.err, HasSubstr(row.says));
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db")) << "it ran before it looked";
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

TEST_F(CommandLineTest, HighlightsEndInOnePage) {
    const auto file = folder / "sub/page.html";
    const Printed plan = assay({"highlights", "--dry-run"});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    const Printed printed = assay({"highlights", "-o", file.string()});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    const std::string picture = (folder / "sub/assay-dummy-sum.svg").string();
    EXPECT_THAT(printed.out,
                AllOf(HasSubstr("1 of 2 checked hold, 1 contradicted"),
                      HasSubstr("dummy: sums, by adding"), HasSubstr("dummy/sum/thrice"),
                      HasSubstr(file.string()), HasSubstr(picture), HasSubstr("\nNext\n")));
    EXPECT_LE(std::count(printed.out.begin(), printed.out.end(), '\n'), 40) << "one page";
    EXPECT_THAT(contents(picture), HasSubstr("<svg"));
    EXPECT_THAT(contents(file), HasSubstr("1 of 2 checked hold, 1 contradicted"));

    const json page = assay_json({"highlights", "dummy", "-o", file.string()});
    EXPECT_EQ(page["samples"].size(), 3U) << "narrowed to n=3";
    EXPECT_EQ(page["systems"][0]["system"], "dummy");
    EXPECT_EQ(page["systems"][0]["picture"], picture);
    const Printed unknown = assay({"highlights", "plato"});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("no highlight of 'plato'; there are: dummy"));
}

TEST_F(CommandLineTest, ClaimsAreCountedFirstAndFolded) {
    EXPECT_THAT(assay({"claims"}).out,
                AllOf(StartsWith("none of 2 claims checked; 2 not run\n"),
                      HasSubstr("2  not run yet: `assay run dummy/sum` checks them")));
    EXPECT_THAT(assay({"claims", "--all"}).out, HasSubstr("dummy/sum/twice"));
    EXPECT_EQ(assay_json({"claims", "--summary"}),
              json::parse(R"([{"system":"dummy","claims":2,"checked":0,"supported":0,
                  "contradicted":0,"open discrepancy":0,"calibrated":0,"need inputs":0,
                  "not run":2,"no command":0,"settings":0}])"));
    EXPECT_THAT(assay({"claims", "--summary", "--markdown"}).out, HasSubstr("| dummy | 0 | "));
    EXPECT_EQ(assay({"claims", "--markdown"}).exit_code, 1);
}

TEST_F(CommandLineTest, ExportWritesCsvJsonAndSvg) {
    assay({"run", "dummy/sum"});
    const auto file = folder / "out.csv";
    EXPECT_EQ(assay({"export", "dummy/sum", "--csv", "-o", file.string()}).exit_code, 0);
    const std::string csv = contents(file);
    // Per n: total, seed and n terms, of three variants; and the header.
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * (4 + 5));
    EXPECT_EQ(json::parse(assay({"export", "--json"}).out).size(), 6U);
    EXPECT_THAT(assay({"export", "--svg", "dummy/sum"}).out, HasSubstr("<svg"));
    EXPECT_EQ(assay({"export", "--csv", "-o", "/proc/nothing/out"}).exit_code, 1);
}

TEST_F(CommandLineTest, DatabaseUpkeep) {
    const std::string session = assay_json({"run", "dummy/sum"})["session"];
    EXPECT_TRUE(assay_json({"db", "check"})["ok"]);
    const std::string other = (folder / "other.db").string();
    const json merged = json::parse(
        assay({"db", "merge", "--db", other, (folder / "results.db").string(), "--json"}).out);
    EXPECT_EQ(merged["samples"], 6);
    const auto checkpoints = folder / "results.db.state" / session / "shared";
    std::filesystem::create_directories(checkpoints);
    std::ofstream(checkpoints / "model") << "0123456789";
    const json would = assay_json({"db", "prune", "--older-than", "0", "--dry-run"});
    EXPECT_EQ(would["samples"], 6);
    EXPECT_EQ(would["checkpoints"],
              json::parse(R"([{"bytes": 10, "session": ")" + session + R"("}])"));
    EXPECT_TRUE(std::filesystem::exists(checkpoints / "model"));
    const Printed pruned = assay({"db", "prune", "--older-than", "0"});
    EXPECT_THAT(pruned.out, HasSubstr("deleted 1 sessions, 6 samples, 0 artifacts\n"
                                      "deleted checkpoints of session " +
                                      session.substr(0, 8) + ", 10 B\n"));
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db.state"));
    EXPECT_EQ(json::parse(assay({"export", "--json"}).out).size(), 0U);
}

TEST_F(CommandLineTest, DoctorTellsOfAnotherRunAndOfABrokenDatabase) {
    const json findings = assay_json({"doctor"});
    bool database_ok = false;
    for (const json& finding : findings)
        if (finding["check"] == "database") database_ok = finding["level"] == "ok";
    EXPECT_TRUE(database_ok);
    std::ofstream(folder / "foreign.db") << "this is a text";
    const Printed broken = assay({"doctor", "--db", (folder / "foreign.db").string()});
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_THAT(broken.out, HasSubstr("[fail] database"));
    EXPECT_EQ(contents(folder / "foreign.db"), "this is a text");
}

TEST_F(CommandLineTest, MeasuredRunsBeginWithWhatIsWrongWithTheMachine) {
    const MachineFolder machine;
    machine.put_server();
    machine.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    const EnvironmentVariable root("ASSAY_HARDWARE_ROOT", machine.path().string());
    const std::string warning = "[warn] governor: performance, powersave; ";
    const Printed measured = assay({"run", "dummy/behave"});
    EXPECT_EQ(measured.exit_code, 0) << measured.err;
    const auto at = measured.err.find(warning);
    ASSERT_NE(at, std::string::npos) << measured.err;
    EXPECT_LT(at, measured.err.find("[1/1"));
    EXPECT_THAT(measured.err, Not(HasSubstr("[ok]")));
    EXPECT_THAT(assay({"run", "dummy/behave", "--json"}).err, HasSubstr(warning));
    EXPECT_THAT(assay({"run", "dummy/behave", "--no-doctor"}).err, Not(HasSubstr("[warn]")));
    EXPECT_THAT(assay({"run", "dummy/sum"}).err, Not(HasSubstr("[warn]"))) << "nothing measured";
    EXPECT_THAT(assay({"run", "dummy/behave", "--dry-run"}).err, Not(HasSubstr("[warn]")));
    EXPECT_THAT(assay({"doctor"}).out, AllOf(HasSubstr("[warn] governor "), HasSubstr("[ok]   ")));
}

TEST_F(CommandLineTest, TheControlWorkloadIsInEveryProgramAndRunsOnRequestOnly) {
    EXPECT_THAT(assay({"list"}).out, Not(HasSubstr("assay/control")));
    EXPECT_THAT(assay({"list", "assay"}).out, HasSubstr("assay/control"));
    const json session = assay_json({"run", "assay/control"});
    ASSERT_EQ(session["samples"].size(), 1U);
    const json& metrics = session["samples"][0]["metrics"];
    for (const char* name : {"arithmetic", "memory", "processes", "checksum"})
        EXPECT_TRUE(metrics.contains(name)) << metrics;
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
