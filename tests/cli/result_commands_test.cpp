// Commands that show, write or look after what was run: claims, report, export, db, doctor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ResultCommandsTest : public ProgramTest {
  protected:
    ResultCommandsTest() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}
};

/// So many claims, none of which was run, as --summary counts them; and `more` of them.
json counts(int not_run, json more = json::object()) {
    json all{{"claims", not_run}, {"not run", not_run}};
    for (const char* none :
         {"checked", "supported", "contradicted", "explained", "undecided", "calibrated",
          "not checkable here", "need data", "need GPU", "need cluster", "no command"})
        all[none] = 0;
    for (const char* how : {"measured", "emulated", "simulated", "exact"})
        all["supported by provenance"][how] = 0;
    all.update(more);
    return all;
}

TEST_F(ResultCommandsTest, ClaimsAreCountedFirstAndFolded) {
    EXPECT_THAT(assay({"claims"}).out,
                AllOf(StartsWith("none of 2 claims checked; 2 not run\n"),
                      HasSubstr("2  not run yet: `assay run dummy/sum` checks them")));
    EXPECT_THAT(assay({"claims", "--all"}).out, HasSubstr("dummy/sum/twice"));
    EXPECT_EQ(assay_json({"claims", "--summary"}),
              json::array({counts(2, {{"system", "dummy"},
                                      {"ours", counts(0)},
                                      {"arithmetic", counts(0)},
                                      {"settings", 0}})}));
    EXPECT_EQ(assay({"claims", "--summary", "--markdown"}).out,
              "| system | supported | contradicted | of these explained | undecided | calibrated | "
              "not run | not checkable here | claims |\n"
              "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
              "| dummy | 0 | 0 | 0 | 0 | 0 | 2 | 0 | 2 |\n\n"
              "How those that are supported were obtained:\n\n"
              "| system | measured | emulated | simulated | exact | supported |\n"
              "|---|---:|---:|---:|---:|---:|\n"
              "| dummy | 0 | 0 | 0 | 0 | 0 |\n\n\n");
    EXPECT_EQ(assay({"claims", "--markdown"}).exit_code, 1);
}

TEST_F(ResultCommandsTest, SummaryCountsHowWhatHoldsWasObtained) {
    assay({"run", "dummy/sum"});
    const json summary = assay_json({"claims", "--summary"});
    EXPECT_EQ(summary[0]["supported"], 1);
    EXPECT_EQ(summary[0]["supported by provenance"],
              json({{"measured", 0}, {"emulated", 0}, {"simulated", 0}, {"exact", 1}}));
    EXPECT_THAT(assay({"claims", "--summary", "--markdown"}).out,
                HasSubstr("| dummy | 0 | 0 | 0 | 1 | 1 |\n"));
    EXPECT_THAT(assay({"claims", "--summary"}).out, HasSubstr("simulated  exact  supported"));
}

TEST_F(ResultCommandsTest, TheSummaryOfAnyNumberOfCommitsIsShort) {
    const std::string file = (folder / "nights.csv").string();
    std::ofstream csv(file);
    csv << "experiment,variant,metric,value,session,started,commit\n";
    for (int night = 10; night < 30; ++night)
        csv << "x/y,v,time_s,1," << night << ",2026-11-" << night << "T00:00:00.000Z,c" << night
            << '\n';
    csv.close();
    ASSERT_EQ(assay({"import", file}).exit_code, 0);
    const std::string text = assay({"claims", "--summary", "--markdown"}).out;
    EXPECT_THAT(text, HasSubstr("\nRecorded 2026-11-10 to 2026-11-29; commits c10, c11, "));
    EXPECT_THAT(text, HasSubstr(", c19 and 10 more.\n"));
}

TEST_F(ResultCommandsTest, HeadlinesComeOfAnyDatabase) {
    const json none = assay_json({"headlines"});
    ASSERT_EQ(none.size(), 1U);
    EXPECT_EQ(none[0]["claim"], "dummy/sum/twice");
    EXPECT_EQ(none[0]["verdict"], "not run");
    EXPECT_TRUE(none[0]["ours"].is_null());
    assay({"run", "dummy/sum"});
    const json row = assay_json({"headlines", "dummy"})[0];
    EXPECT_EQ(row["verdict"], "supported");
    EXPECT_EQ(row["provenance"], "exact");
    EXPECT_EQ(row["ours"], row["paper"]);
    EXPECT_TRUE(row["low"].is_null()) << "computed";
    EXPECT_THAT(assay({"headlines"}).out, HasSubstr("holds, computed exactly"));
    EXPECT_THAT(
        assay({"headlines", "--markdown"}).out,
        AllOf(StartsWith("| system | what the paper says | paper | ours | verdict | why |\n"),
              HasSubstr(", exact | supported | holds, computed exactly |\n")));
    EXPECT_THAT(assay({"headlines", "dummy/sum/thrice"}).out, HasSubstr("no headline is among"));
    EXPECT_EQ(assay_json({"headlines", "dummy/sum/thrice"}), json::array());
    EXPECT_EQ(assay({"headlines", "nothing"}).exit_code, 1);
    EXPECT_EQ(assay({"headlines", "--json", "--markdown"}).exit_code, 1);
}

TEST_F(ResultCommandsTest, AVerdictSelectsRowsAndLeavesTheCountsAlone) {
    assay({"run", "dummy/sum"});
    const std::string first = "1 of 2 checked hold, 1 contradicted\n";
    const std::string held = assay({"claims", "--verdict", "supported"}).out;
    EXPECT_THAT(held, AllOf(StartsWith(first), HasSubstr("dummy/sum/twice"),
                            Not(HasSubstr("dummy/sum/thrice"))));
    EXPECT_EQ(assay({"claims", "--verdict", "holds"}).out, held);
    EXPECT_EQ(assay({"claims", "--verdict", "undecided"}).out,
              first + "\nnone of these 2 claims reads 'undecided'\n");
    EXPECT_EQ(assay({"claims", "--verdict", "calibrated"}).out,
              first + "\nnone of these 2 claims reads 'calibrated'\n");
    EXPECT_EQ(assay({"claims", "--verdict", "needs-gpu"}).out,
              first + "\nnone of these 2 claims reads 'needs GPU'\n");
    for (const char* unknown : {"wrong", "open-discrepancy", "discrepancies"})
        EXPECT_THAT(assay({"claims", "--verdict", unknown}).err,
                    HasSubstr("one of supported, contradicted, undecided, calibrated, "));
    EXPECT_EQ(assay_json({"claims", "--verdict", "not-run"}), json::array());
    const json rows = assay_json({"claims", "--verdict", "contradicted"});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0]["state"], "contradicted");
    EXPECT_EQ(rows[0]["command"], "assay run dummy/sum --profile toy --mode exact");
    EXPECT_EQ(assay({"claims", "--verdict", "supported", "--gate"}).exit_code, 2)
        << "the other one is still contradicted";
    EXPECT_EQ(assay({"claims", "--summary", "--verdict", "supported"}).exit_code, 1);
}

TEST_F(ResultCommandsTest, AReportLeavesOutWhatHasNoSamples) {
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

TEST_F(ResultCommandsTest, ExportWritesCsvJsonAndSvg) {
    assay({"run", "dummy/sum"});
    const auto file = folder / "out.csv";
    EXPECT_EQ(assay({"export", "dummy/sum", "--csv", "-o", file.string()}).exit_code, 0);
    const std::string csv = contents(file);
    // Per n: total, seed and n terms, of three variants; and the header.
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * (4 + 5));
    EXPECT_EQ(json::parse(assay({"export", "--json"}).out).size(), 6U);
    EXPECT_THAT(assay({"export", "--svg", "dummy/sum"}).out, HasSubstr("<svg"));
    const auto narrowed = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"export", "--svg", "dummy/sum"});
        const Printed drawn = assay(words);
        return drawn.exit_code == 0 ? drawn.out : drawn.err;
    };
    const std::string whole = narrowed({}), some = narrowed({"--variant", "a,b", "-a", "n=2"});
    EXPECT_THAT(whole, AllOf(HasSubstr(">c<"), HasSubstr("n 3")));
    EXPECT_THAT(some, AllOf(HasSubstr(">b<"), Not(HasSubstr(">c<")), Not(HasSubstr("n 3"))));
    EXPECT_EQ(narrowed({"--mode", "exact"}), whole);
    EXPECT_THAT(narrowed({"-a", "n=7"}), HasSubstr("no sample of dummy/sum is like that"));
    EXPECT_THAT(narrowed({"-a", "m=7"}), HasSubstr("dummy/sum has no axis 'm'"));
    EXPECT_EQ(assay({"export", "--csv", "-a", "n=2"}).exit_code, 1) << "would count for nothing";
    EXPECT_EQ(assay({"export", "--csv", "-o", "/proc/nothing/out"}).exit_code, 1);
}

TEST_F(ResultCommandsTest, ExportSaysWhatItLeavesOut) {
    const std::string csv = (folder / "out.csv").string(), svg = (folder / "out.svg").string();
    const std::string session = assay_json({"run", "dummy/sum"})["session"];
    EXPECT_EQ(assay({"export", "--csv", "-o", csv}).err, "") << "there is no other";
    assay({"run", "dummy/sum", "--fresh"});
    EXPECT_THAT(assay({"export", "--csv", "-o", csv}).err,
                AllOf(HasSubstr("out.csv: 6 of 12 samples: the newest of each case"),
                      HasSubstr("`assay export --session ID --csv` writes one session's, "
                                "`assay export --to FILE.jsonl` whole sessions")));
    EXPECT_THAT(assay({"export", "--json", "--session", session}).err,
                StartsWith("6 of 12 samples: those of the session;"));
    EXPECT_THAT(assay({"export", "--svg", "dummy/sum", "-o", svg}).err,
                HasSubstr("out.svg: the figure of dummy/sum\n"));
}

TEST_F(ResultCommandsTest, AReportSaysWhichCommandShowsWhatIsOnlyInTheDatabase) {
    const std::string file = (folder / "r.csv").string(), page = (folder / "r.html").string();
    std::ofstream(file) << "experiment,metric,value\nx/y,time_s,1\n";
    const Printed imported = assay({"import", file});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_THAT(imported.out, Not(HasSubstr("claims"))) << "none is about that";
    EXPECT_THAT(assay({"report", "-o", page}).err,
                HasSubstr("; it has samples of x/y: `assay report x/y` shows them"));
    std::ofstream(file) << "experiment,metric,value\nx/z,time_s,1\n";
    ASSERT_EQ(assay({"import", file}).exit_code, 0);
    EXPECT_THAT(assay({"report", "-o", page}).err,
                HasSubstr("; it has samples of 2 others, x/y …: `assay report 'x/*'` shows them"));
    // What cannot run by its defaults is not suggested so.
    EXPECT_THAT(assay({"report", "benchmark/program", "-o", page}).err,
                HasSubstr("yet; `assay describe benchmark/program` says what makes some"));
    const std::string described = assay({"describe", "benchmark/program"}).out;
    EXPECT_THAT(described, AllOf(HasSubstr("program    any (must be given)  "),
                                 HasSubstr("arguments  any  "), Not(HasSubstr(", or others"))));
    // Rows of programs without arguments can be measured again by their command.
    const Printed planned =
        assay({"run", "benchmark/program", "-a", "name=x", "-a", "program=/bin/true", "--dry-run"});
    EXPECT_EQ(planned.exit_code, 0) << planned.err;
}

TEST_F(ResultCommandsTest, NothingToDoIsNoSuccess) {
    const std::string empty = (folder / "empty.csv").string(), other = (folder / "o.db").string();
    std::ofstream(empty) << "experiment,metric,value\n";
    const Printed imported = assay({"import", empty});
    EXPECT_EQ(imported.exit_code, 1);
    EXPECT_THAT(imported.err, HasSubstr("empty.csv: there is no sample in it"));
    EXPECT_EQ(assay({"db", "merge", (folder / "results.db").string(), "--db", other}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db")) << "none was begun";
    assay({"run", "dummy/behave", "-a", "how=unsupported", "--rounds", "1"});
    for (const char* format : {"--csv", "--json"}) {
        const Printed exported = assay({"export", format});
        EXPECT_EQ(exported.exit_code, 1);
        EXPECT_THAT(exported.err, HasSubstr("nothing to export"));
    }
}

TEST_F(ResultCommandsTest, SuggestedCommandsNameTheDatabaseInUse) {
    const std::string db = (folder / "my results.db").string(), named = " --db '" + db + "'";
    const auto all = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--db", db});
        const Printed printed = assay(arguments);
        return printed.out + printed.err;
    };
    EXPECT_THAT(all({"report"}), HasSubstr("`assay run" + named + "` makes"));
    all({"run", "dummy/behave", "-a", "how=well", "--rounds", "1"});
    EXPECT_THAT(all({"claims"}), HasSubstr("`assay run dummy/sum" + named + "` checks them"));
    const std::string ran = all({"run", "dummy/sum"});
    for (const char* command : {"assay report dummy/sum --text",
                                "assay report dummy/sum -o sum.svg", "assay claims dummy/sum"})
        EXPECT_THAT(ran, HasSubstr(command + named));
    EXPECT_THAT(all({"baseline", "list"}), HasSubstr("`assay baseline accept SUITE" + named + "`"));
    EXPECT_THAT(all({"unmute", "x"}), HasSubstr("`assay mute" + named + "`"));
    EXPECT_THAT(all({"report", "-o", "x.csv"}), HasSubstr("`assay export --csv -o x.csv" + named));
    EXPECT_THAT(assay({"baseline", "list"}).err, Not(HasSubstr("--db")));
    // Whatever the columns, each is on one line.
    const std::string narrow = run_at_terminal(
        ASSAY_DUMMY_PROGRAM, {"run", "dummy/sum", "--fresh", "--db", db}, 40, "dumb");
    for (const char* command : {"assay report dummy/sum --text",
                                "assay report dummy/sum -o sum.svg", "assay claims dummy/sum"})
        EXPECT_THAT(narrow, HasSubstr(command + named));
}

TEST_F(ResultCommandsTest, DatabaseUpkeep) {
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
    EXPECT_THAT(pruned.out, HasSubstr("deleted 1 session, 6 samples, 0 artifacts\n"
                                      "deleted checkpoints of session " +
                                      session.substr(0, 8) + ", 10 B\n"));
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db.state"));
    EXPECT_EQ(json::parse(assay({"export", "--json"}).out).size(), 0U);
}

TEST_F(ResultCommandsTest, DoctorTellsOfAnotherRunAndOfABrokenDatabase) {
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

}  // namespace
}  // namespace assay::testing
