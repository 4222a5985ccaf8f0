// Files of Google Benchmark as a user compares them: as they are, or imported.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Real time 47 % lower, CPU time 14 % higher; a second benchmark fails.
class BenchmarkFiles : public ProgramTest {
  protected:
    BenchmarkFiles() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}

    std::string written(const std::string& name, const std::string& text) const {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    std::string timed(const std::string& name, double real, double cpu,
                      const std::string& benchmark = "BM_mix",
                      const std::string& context = "\"num_cpus\": 2") const {
        std::string all;
        for (int i = 0; i < 7; ++i)
            all += "{\"name\": \"" + benchmark +
                   "\", \"run_type\": \"iteration\", \"real_time\": " +
                   std::to_string(real + 0.01 * i) +
                   ", \"cpu_time\": " + std::to_string(cpu + 0.01 * i) + ", \"depth\": 3}, ";
        return written(name, "{\"context\": {" + context + "}, \"benchmarks\": [" + all +
                                 "{\"name\": \"BM_bad\", \"error_occurred\": true}]}");
    }
    std::string old_file = timed("old.json", 100, 50), new_file = timed("new.json", 53, 57);
};

TEST_F(BenchmarkFiles, ADisagreementStandsBesideTheVerdictEverywhere) {
    const Printed printed = assay({"compare", old_file, new_file});
    EXPECT_EQ(printed.exit_code, 2) << "CPU time is slower";
    EXPECT_THAT(printed.out, HasSubstr("faster (!)"));
    EXPECT_THAT(printed.out, HasSubstr("slower (!)"));
    EXPECT_THAT(printed.out, HasSubstr("Warnings (!)\n  rows 1-2: real and CPU time disagree"));
    EXPECT_THAT(printed.out, HasSubstr("1 faster (!), 1 slower (!)"));
    // Nor is it forgotten where CPU time is not asked for.
    for (const char* option : {"--only=improvements", "--metric=real_time"}) {
        const Printed part = assay({"compare", old_file, new_file, option});
        EXPECT_THAT(part.out, HasSubstr("faster (!)")) << option;
        EXPECT_THAT(part.out, HasSubstr("real and CPU time disagree")) << option;
    }
    const auto rows = assay_json({"compare", old_file, new_file, "--metric", "real_time"});
    EXPECT_THAT(rows[0]["warnings"].dump(), HasSubstr("disagree"));
    EXPECT_THAT(assay({"compare", old_file, new_file, "--csv"}).out, HasSubstr("disagree"));
    EXPECT_THAT(assay({"compare", old_file, new_file, "--markdown"}).out, HasSubstr("faster (!)"));
    EXPECT_THAT(assay({"compare", old_file, new_file, "--explain", "1"}).out,
                HasSubstr("(!) real and CPU time disagree"));
}

TEST_F(BenchmarkFiles, AnUnknownNameIsAnErrorThatSaysWhichThereAre) {
    // Though the benchmark that fails stands for every metric.
    const Printed metric = assay({"compare", old_file, new_file, "--metric", "cpu_tiem"});
    EXPECT_EQ(metric.exit_code, 1);
    EXPECT_EQ(metric.err,
              "assay: --metric cpu_tiem: neither side has it; did you mean 'cpu_time'? there are: "
              "cpu_time, depth, real_time\n");
    const Printed one = assay({"compare", old_file, new_file, "--metric", "cpu_time,wall"});
    EXPECT_EQ(one.exit_code, 1) << "one of two is unknown";
    EXPECT_THAT(one.err, HasSubstr("--metric wall: neither side has it; there are: cpu_time"));
    const Printed experiment = assay({"compare", old_file, new_file, "--experiment", "BM_mxi"});
    EXPECT_THAT(experiment.err, HasSubstr("did you mean 'BM_mix'? there are: BM_bad, BM_mix"));
    EXPECT_EQ(
        assay({"compare", old_file, new_file, "--experiment", "BM_bad", "--metric", "real_time"})
            .exit_code,
        4)
        << "it has no metric, so nobody knows";
}

TEST_F(BenchmarkFiles, AnErrorOfABenchmarkIsShownOnEveryRoute) {
    const std::string message(150, 'e');
    const std::string bad = written("bad.json", R"({"benchmarks": [{"name": "BM_mix",
        "error_occurred": true, "error_message": "no device )" +
                                                    message + "\"}]}");
    ASSERT_EQ(assay({"import", bad}).exit_code, 0);
    for (const std::string& b : {bad, std::string("latest")}) {
        const std::string table = assay({"compare", old_file, b}).out;
        EXPECT_THAT(table, HasSubstr("the only sample of B failed (no device"));
        EXPECT_THAT(table, Not(HasSubstr(message))) << "shortened";
        EXPECT_THAT(assay({"compare", old_file, b, "--explain", "1"}).out, HasSubstr(message));
        const auto rows = assay_json({"compare", old_file, b});
        EXPECT_EQ(rows[0]["errors"], nlohmann::json::array({"B: no device " + message}));
    }
}

TEST_F(BenchmarkFiles, HostAndClockAreWarnedOfOnEveryRoute) {
    const auto measured = [&](const std::string& host, double mhz) {
        return timed(host + ".json", host == "one" ? 100 : 120, 50, "BM_mix",
                     "\"num_cpus\": 2, \"host_name\": \"" + host +
                         "\", \"mhz_per_cpu\": " + std::to_string(mhz));
    };
    const std::string one = measured("one", 2400), two = measured("two", 3000),
                      like = measured("like", 2401);
    const auto host = HasSubstr("A was measured on the host one and B on two: ");
    const auto clock = HasSubstr("another clock, 2400 MHz in A and 3000 MHz in B");
    const auto warned = [&](const std::string& a, const std::string& b) {
        return assay_json({"compare", a, b})[0]["warnings"];
    };
    const auto direct = warned(one, two);
    EXPECT_THAT(direct.dump(), host);
    EXPECT_THAT(direct.dump(), clock);
    EXPECT_THAT(warned(one, like).dump(), Not(HasSubstr("clock"))) << "read twice";
    EXPECT_EQ(warned(one, one).size(), 0u);
    const std::string text = assay({"compare", one, two}).out;
    EXPECT_THAT(text, host);
    EXPECT_THAT(text, HasSubstr("slower (!)"));
    ASSERT_EQ(assay({"import", one}).exit_code, 0);
    ASSERT_EQ(assay({"import", two}).exit_code, 0);
    EXPECT_EQ(warned("latest~1", "latest"), direct) << "one machine, by its processors";
    EXPECT_EQ(warned(one, "latest"), direct);
    EXPECT_THAT(assay({"compare", "latest~1", "latest"}).out, host);
}

TEST_F(BenchmarkFiles, EveryNameThatIsPrintedNamesAHistory) {
    const std::string file = timed("odd.json", 10, 5, "BM_f<int, 8>[2]/64");
    for (const std::string& each : {old_file, new_file, file})
        ASSERT_EQ(assay({"import", each}).exit_code, 0);
    for (const std::string& rows : {old_file, file})
        for (const auto& row : assay_json({"compare", rows, rows, "--all"})) {
            if (row["verdict"] != "same") continue;
            const std::string series = row["series"], metric = row["metric"], name = row["name"];
            const std::string in_table = series.substr(std::string("benchmark/").size());
            for (const std::string& typed :
                 {name, in_table + ' ' + metric, series + ' ' + metric, in_table + " · " + metric})
                EXPECT_EQ(assay_json({"history", typed}).size(), 1u) << typed;
            EXPECT_EQ(assay_json({"history", in_table}).size(), 3u) << in_table;
            EXPECT_EQ(assay_json({"history", in_table, "--metric", metric}).size(), 1u);
        }
    EXPECT_EQ(assay_json({"history", "BM_m*"}).size(), 3u);
    EXPECT_THAT(assay({"history", "BM_bad"}).err, HasSubstr("no sample of BM_bad ended well"));
    EXPECT_THAT(assay({"history", "BM_other"}).err, HasSubstr("BM_other"));
    EXPECT_EQ(assay({"history", "BM_other"}).exit_code, 1);
}

TEST_F(BenchmarkFiles, ASessionThatWasImportedSaysSo) {
    ASSERT_EQ(assay({"import", old_file}).exit_code, 0);
    EXPECT_THAT(assay({"compare", "latest", new_file}).out,
                HasSubstr(", imported from old.json (latest)\n"));
}

TEST_F(BenchmarkFiles, AFileAndItsImportReadTheSame) {
    const auto direct = assay_json({"compare", old_file, new_file, "--all"});
    ASSERT_EQ(direct.size(), 4u) << direct.dump(1);
    ASSERT_EQ(assay({"import", old_file}).exit_code, 0);
    ASSERT_EQ(assay({"import", new_file}).exit_code, 0);
    const auto mixed = assay_json({"compare", old_file, "latest", "--all"});
    const auto imported = assay_json({"compare", "latest~1", "latest", "--all"});
    const auto by_name = [](const nlohmann::json& rows) {
        std::map<std::string, nlohmann::json> all;
        for (const auto& row : rows) all[row["name"]] = row;
        return all;
    };
    for (const auto* rows : {&mixed, &imported}) {
        ASSERT_EQ(rows->size(), direct.size()) << rows->dump(1);
        auto there = by_name(*rows);
        for (const auto& [name, row] : by_name(direct))
            for (const char* key :
                 {"series", "metric", "unit", "ratio", "low", "high", "verdict", "id", "warnings"})
                EXPECT_EQ(there[name][key], row[key]) << name << ' ' << key;
    }
    // One name finds the row on every route.
    for (const std::string& a : {old_file, std::string("latest~1")})
        for (const char* name : {"BM_mix cpu_time", "benchmark/BM_mix · cpu_time"})
            EXPECT_THAT(assay({"compare", a, "latest", "--explain", name}).out,
                        HasSubstr("benchmark/BM_mix · cpu_time, lower is better"))
                << a << ' ' << name;
}

TEST_F(BenchmarkFiles, WhatFailedBeforeTooIsNoNewFailure) {
    const auto rows = assay_json({"compare", old_file, old_file});
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[2]["verdict"], "failed before too");
    EXPECT_EQ(rows[0]["verdict"], "same") << "takes no other row with it";
    EXPECT_EQ(assay({"compare", old_file, old_file}).exit_code, 0);
    const Printed printed = assay({"compare", old_file, old_file, "--only", "failed-before-too"});
    EXPECT_THAT(printed.out, HasSubstr("1 of 3 rows shown"));
    EXPECT_EQ(assay_json({"compare", old_file, old_file, "--only", "regressions"}).size(), 0u);
    const std::string good = written("good.json", R"({"benchmarks": [{"name": "BM_bad",
        "real_time": 3}]})");
    EXPECT_EQ(assay({"compare", good, old_file, "--experiment", "BM_bad"}).exit_code, 2)
        << "a new failure";
}

TEST_F(BenchmarkFiles, AggregatesOnlyAreNamedOnBothRoutes) {
    const std::string file = written("mean.json", R"({"benchmarks": [{"name": "B_mean",
        "run_type": "aggregate", "aggregate_name": "mean", "real_time": 3}]})");
    for (const std::vector<std::string>& route :
         {std::vector<std::string>{"compare", old_file, file}, {"import", file}}) {
        const Printed printed = assay(route);
        EXPECT_EQ(printed.exit_code, 1);
        EXPECT_THAT(printed.err, HasSubstr("aggregates (means, medians) only"));
        EXPECT_THAT(printed.err, HasSubstr("without --benchmark_report_aggregates_only"));
    }
}

/// Of a session as `run` notes it, and of a file.
TEST_F(BenchmarkFiles, AMachineThatWasBusyIsToldBesideTheVerdict) {
    const std::string busy =
        timed("busy.json", 120, 60, "BM_mix", R"("num_cpus": 2, "load_avg": [3.5, 1, 1])");
    const auto sentence = HasSubstr("the machine was busy when B was measured (load)");
    EXPECT_THAT(assay({"compare", old_file, busy}).out, sentence);
    ASSERT_EQ(assay({"import", busy}).exit_code, 0);
    EXPECT_THAT(assay_json({"compare", old_file, "latest"})[0]["warnings"].dump(), sentence);
}

/// Escapes, line breaks, marks of direction, bytes that are no UTF-8, in every foreign text.
TEST_F(BenchmarkFiles, HostileNamesReachNoTerminal) {
    const std::string name =
        R"(x\u001b]0;owned\u0007\u001b[2J\n0 rows: all same | a\tb\u202ecba\u2028\u009b31m)"
        R"(<b>&\",\u007f)";
    const std::string context = R"("num_cpus": "2\u001b[31m", "host_name": "h\u001b[0m",
        "executable": "e\u001b[0m", "date": "d\u001b[0m", "caches": [{"type": "\u001b[7m"}])";
    const std::string bad_a = timed("a\x1b[1m\n\xff.json", 100, 50, name, context);
    const std::string bad_b =
        timed("b\x1b[1m.json", 53, 57, name, context + R"(, "c\u001b": "\u001b")");
    ASSERT_EQ(assay({"import", bad_b}).exit_code, 0);
    const auto clean = [](const std::string& text) {
        for (const char* mark :
             {"\x1b", "\t", "\r", "\x07", "\x7f", "\xff", "\u202e", "\u2028", "\u009b", "\n0 rows"})
            EXPECT_EQ(text.find(mark), std::string::npos) << text;
    };
    for (const std::string& b : {bad_b, std::string("latest")})
        for (const std::vector<std::string>& how : {std::vector<std::string>{},
                                                    {"--explain", "1"},
                                                    {"--json"},
                                                    {"--csv"},
                                                    {"--markdown"},
                                                    {"--experiment", "nothing"},
                                                    {"--explain", "none \x1b[1m"},
                                                    {"--metric", "\x1b"}}) {
            std::vector<std::string> typed{"compare", bad_a, b};
            typed.insert(typed.end(), how.begin(), how.end());
            const Printed printed = assay(typed);
            EXPECT_FALSE((printed.out + printed.err).empty());
            clean(printed.out);
            clean(printed.err);
        }
    clean(assay({"import", bad_a}).out);
    clean(assay({"compare", bad_a, "nowhere\x1b[1m.json"}).err);
    clean(assay({"history", "benchmark/*"}).out);
    const auto rows = assay_json({"compare", bad_a, "latest~1"});
    EXPECT_THAT(rows[0]["series"].get<std::string>(), HasSubstr("\u202e")) << "data stay whole";
    EXPECT_EQ(rows[0]["verdict"], "faster");
}

TEST_F(BenchmarkFiles, TwoBenchmarksOfOneNameStayApartOnEveryRoute) {
    const auto twice = [&](const std::string& name, double first) {
        std::string all;
        for (int i = 0; i < 14; ++i)
            all += std::string(i == 0 ? "" : ", ") +
                   "{\"name\": \"BM\", \"family_index\": " + std::to_string(i % 2) +
                   ", \"real_time\": " + std::to_string((i % 2 == 0 ? first : 5) + 0.001 * i) + "}";
        return written(name,
                       "{\"context\": {\"executable\": \"./b\"}, \"benchmarks\": [" + all + "]}");
    };
    const std::string fast = twice("fast.json", 10), slow = twice("slow.json", 100);
    for (const std::string& file : {fast, slow}) ASSERT_EQ(assay({"import", file}).exit_code, 0);
    for (const auto& [a, b] :
         std::map<std::string, std::string>{{fast, slow}, {"latest~1", "latest"}}) {
        std::map<std::string, std::string> verdicts;
        for (const auto& row : assay_json({"compare", a, b}))
            verdicts[row["series"]] = row["verdict"];
        EXPECT_EQ(verdicts,
                  (std::map<std::string, std::string>{{"benchmark/BM (1 of 2)", "slower"},
                                                      {"benchmark/BM (2 of 2)", "same"}}));
        EXPECT_THAT(assay({"compare", a, b, "--explain", "1"}).out,
                    HasSubstr("./b --benchmark_filter='^BM$'"));
    }
    EXPECT_EQ(assay_json({"history", "BM (2 of 2)"}).size(), 1u);
}

TEST_F(BenchmarkFiles, AFileMayHaveAnyNameOrBeAPipe) {
    std::filesystem::copy_file(new_file, folder / "new.txt");
    std::filesystem::copy_file(new_file, folder / "new.JSON");
    const auto direct = assay_json({"compare", old_file, new_file});
    for (const char* name : {"new.txt", "new.JSON"})
        EXPECT_EQ(assay_json({"compare", old_file, (folder / name).string()}), direct) << name;
    // A pipe is read once.
    const std::string pipe = (folder / "pipe.json").string();
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"compare", old_file, pipe}, {"import", pipe}}) {
        ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
        std::thread writer([&] { std::ofstream(pipe) << std::ifstream(new_file).rdbuf(); });
        const auto printed = assay_json(command);
        writer.join();
        std::filesystem::remove(pipe);
        if (command.front() == "import")
            EXPECT_EQ(printed[0]["samples"], 8);
        else
            EXPECT_EQ(printed, direct);
    }
}

TEST_F(BenchmarkFiles, AFileAgainstItselfIsTheSameFile) {
    EXPECT_THAT(assay({"compare", old_file, old_file}).out,
                HasSubstr("A and B are the same file\n"));
    EXPECT_THAT(assay({"compare", old_file, new_file}).out, Not(HasSubstr("the same file")));
    ASSERT_EQ(assay({"import", old_file}).exit_code, 0);
    EXPECT_THAT(assay({"compare", "latest", "latest"}).out,
                HasSubstr("A and B are the same session\n"));
}

TEST_F(BenchmarkFiles, ADirectionThatIsStatedIsKept) {
    const std::string a = timed("a.json", 100, 50), b = timed("b.json", 101, 50);
    const Printed untold = assay({"compare", a, b});
    EXPECT_THAT(untold.out, HasSubstr("; 1 without a direction (depth)\n"));
    EXPECT_THAT(untold.out, HasSubstr("--better depth=higher (or lower)"));
    const auto told = assay_json({"compare", a, b, "--better", "depth=higher"});
    ASSERT_EQ(told.size(), 4u);
    EXPECT_THAT(told.dump(), HasSubstr("depth"));
    for (const char* wrong : {"depth", "depth=more", "=higher", "depth=none", "depht=higher"})
        EXPECT_EQ(assay({"compare", a, b, "--better", wrong}).exit_code, 1) << wrong;
    EXPECT_THAT(assay({"compare", a, b, "--better", "depht=higher"}).err,
                HasSubstr("did you mean 'depth'?"));

    ASSERT_EQ(assay({"import", a}).exit_code, 0);
    EXPECT_EQ(assay_json({"compare", b, "latest", "--metric", "depth"}).size(), 1u)
        << "BM_bad, which failed";
    ASSERT_EQ(assay({"import", a, "--better", "depth=higher"}).exit_code, 0) << "again, with it";
    ASSERT_EQ(assay({"import", b}).exit_code, 0);
    EXPECT_THAT(assay({"compare", "latest~1", "latest", "--metric", "depth"}).out,
                HasSubstr("1 same"));
    EXPECT_THAT(assay({"compare", a, "latest", "--metric", "depth"}).out, HasSubstr("1 same"))
        << "though the file tells no direction";
    const Printed missing = assay({"import", b, "--better", "depht=higher"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_THAT(missing.err, HasSubstr("no file has a metric of that name"));
}

TEST_F(BenchmarkFiles, WhatWasImportedIsFirstClass) {
    ASSERT_EQ(assay({"import", old_file, "--better", "depth=lower"}).exit_code, 0);
    const Printed described = assay({"describe", "benchmark/BM_mix"});
    EXPECT_EQ(described.exit_code, 0) << described.err;
    EXPECT_THAT(described.out, HasSubstr("real_time  s     lower"));
    EXPECT_THAT(described.out, HasSubstr("depth            lower"));
    EXPECT_EQ(assay_json({"describe", "BM_mix"})["metrics"].size(), 3u);
    EXPECT_EQ(assay_json({"describe", "benchmark/BM_*"}).size(), 2u);
    EXPECT_EQ(assay({"describe", "benchmark/BM_other"}).exit_code, 1);
    const Printed elsewhere = assay({"describe", "benchmark/BM_mix", "--db", "no/such.db"});
    EXPECT_EQ(elsewhere.exit_code, 1);

    const Printed report = assay({"report", "benchmark/BM_mix", "--text"});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    EXPECT_THAT(report.out, HasSubstr("real_time"));
    EXPECT_THAT(report.out, HasSubstr("samples  7 ok"));
    const std::string page = (folder / "page.html").string();
    EXPECT_EQ(assay({"report", "benchmark/BM_mix", "-o", page}).exit_code, 0);
    EXPECT_GT(std::filesystem::file_size(page), 1000u);
    EXPECT_EQ(assay({"report", "benchmark/BM_mix", "-o", (folder / "f.svg").string()}).exit_code,
              0);
    EXPECT_THAT(assay({"history", "BM_mix", "--metric", "real_time"}).out,
                HasSubstr("real_time, s (lower is better)"));
    EXPECT_THAT(assay({"history", "BM_mix", "--metric", "depth"}).out,
                HasSubstr("depth (lower is better)"));
}

TEST_F(BenchmarkFiles, AByteOrderMarkIsNoPartOfAFile) {
    std::ifstream in(new_file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string marked = written("marked.json", "\xef\xbb\xbf" + text);
    EXPECT_EQ(assay_json({"compare", old_file, marked}),
              assay_json({"compare", old_file, new_file}));
    EXPECT_THAT(assay({"import", marked}).out, HasSubstr("added 1 session, 8 samples"));
    ASSERT_EQ(assay({"export", "--to", (folder / "all.jsonl").string()}).exit_code, 0);
    std::ifstream lines(folder / "all.jsonl");
    const std::string all{std::istreambuf_iterator<char>(lines), {}};
    const std::string other = written("other.jsonl", "\xef\xbb\xbf" + all);
    const Printed arrived = assay({"import", other, "--db", (folder / "b.db").string()});
    EXPECT_THAT(arrived.out, HasSubstr("added 1 session, 8 samples")) << arrived.err;
}

/// What hyperfine 1.15 wrote of a command with these times.
std::string hyperfine(double scale) {
    std::string times;
    for (int i = 0; i < 8; ++i)
        times += (i == 0 ? "" : ", ") + std::to_string(scale * (1 + 0.001 * i));
    return R"({"results": [{"command": "sleep 1", "mean": 1, "times": [)" + times + "]}]}";
}

TEST_F(BenchmarkFiles, FilesOfOtherToolsAreComparedDirectlyAndImported) {
    const std::string a = written("a.json", hyperfine(1)), b = written("b.json", hyperfine(1.5));
    const Printed direct = assay({"compare", a, b});
    EXPECT_EQ(direct.exit_code, 2) << direct.out << direct.err;
    EXPECT_THAT(direct.out, HasSubstr("sleep 1"));
    EXPECT_THAT(direct.out, HasSubstr("slower"));
    EXPECT_EQ(assay({"compare", a, b, "--from", "hyperfine"}).exit_code, 2);
    EXPECT_THAT(assay({"compare", a, b, "--from", "nvbench"}).err, HasSubstr("not nvbench's JSON"));
    const std::string database = (folder / "tools.db").string();
    EXPECT_EQ(assay({"import", a, b, "--db", database}).exit_code, 0);
    const Printed imported = assay({"compare", "latest~1", "latest", "--db", database});
    EXPECT_EQ(imported.exit_code, 2) << imported.out << imported.err;
    EXPECT_THAT(imported.out, HasSubstr("1 slower"));
    EXPECT_THAT(assay({"history", "benchmark/sleep 1", "--db", database}).out,
                HasSubstr("sleep 1"));
}

TEST_F(BenchmarkFiles, ARefusedImportLeavesNoDatabase) {
    const std::string database = (folder / "none.db").string();
    for (const auto& [name, text] : {std::pair("other.json", R"({"results": 1})"),
                                     {"e.csv", "experiment,metric,value\n"},
                                     {"x.csv", "experiment,metric,value\nx,y,fast\n"},
                                     {"x.db", "SQLite format 3 and nothing"}}) {
        const Printed printed = assay({"import", written(name, text), "--db", database});
        EXPECT_EQ(printed.exit_code, 1) << name;
        EXPECT_THAT(printed.err, Not(HasSubstr("new database"))) << name;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("none.db"))) << name;
    }
    EXPECT_EQ(assay({"db", "merge", (folder / "x.db").string(), "--db", database}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(database));
}

/// The nights of another tool, as CSV.
TEST_F(BenchmarkFiles, NightsInCsvOfANamedMachineHaveAHistory) {
    const auto night = [&](const std::string& name, int value, const std::string& day) {
        std::string rows = "experiment,metric,unit,value,started,better\n";
        for (int i = 0; i < 6; ++i)
            rows += "copy,bandwidth,GB/s," + std::to_string(value + i) + ',' + day +
                    "T02:00:00+0000,higher\n";
        return written(name, rows);
    };
    const std::string a = night("a.csv", 800, "2026-11-20"), b = night("b.csv", 700, "2026-11-21"),
                      database = (folder / "nights.db").string();
    EXPECT_EQ(assay({"import", a, b, "--db", database, "--machine", "lab"}).exit_code, 0);
    const Printed printed = assay({"compare", "latest~1", "latest", "--db", database});
    EXPECT_EQ(printed.exit_code, 2) << printed.out << printed.err;
}

}  // namespace
}  // namespace assay::testing
