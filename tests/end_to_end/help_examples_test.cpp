// Every example that a --help shows is typed into a shell: in a folder and a database of its own,
// with the files that examples name. What would take long is shortened, in a list with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

struct Example {
    std::string command;  ///< "assay db prune": whose --help shows it
    std::string line;     ///< as typed, perhaps over several lines
};

/// What is typed instead of a part of an example.
struct Shortened {
    const char *part, *instead, *why;
};

constexpr Shortened shortened[] = {
    {"lazarus/x_live --fault kill:rank=1@step=5", "$& --dry-run", "trains for ten seconds"},
    {"assay run lte/fig8 --until-decided", "$& --dry-run", "measures for ten minutes"},
    {"assay reproduce$", "$& --dry-run", "takes hours"},
    {"assay highlights.*", "$& --dry-run", "takes a minute"},
    {"(assay versus .*)(lazarus|lte)/fig8", "$1lazarus/fig4 --max-rounds 3",
     "starts hundreds of processes"},
    {"assay qualify datasets/suites/cpu.toml --slowed 10", "$& --dry-run", "records 40 rounds"},
    {"--seeds 1..(300|10000)", "--seeds 1..40", "a minute of schedules"},
    {"--mode live --seeds 1..20 --jobs 2", "--seeds 1..20 --jobs 2", "trains for a minute"},
    {"assay calibrate machine$", "$& --quick", "measures for a minute"},
    {"--layers 0,15,29", "--layers 29", "writes a hundred megabytes"},
    {"--limit-tokens 20000", "--limit-tokens 300", "evaluates for minutes"},
    {"assay model generate.*--chat.*|assay model generate.*prompt.*", "$& --max-tokens 4",
     "writes for half a minute"},
    // Ids are of results that only the reader has.
    {"replay 3f2a9c01 --policy", "replay $$DECIDED --policy", "a sample with decisions"},
    {"qualify (.*)--session 1a2b3c4d", "qualify $1--session $$POOL --campaigns 5 --trials 5",
     "a pool of this database"},
    {"3f2a9c01", "$$SAMPLE", "a sample of this database"},
    {"1a2b3c4d|1a2b", "$$SESSION", "a session of this database"},
};

/// Files that are not ours to ship are known by their hash, so that no test can make them.
struct Absent {
    const char *part, *complaint;
};
constexpr Absent absent[] = {
    {"assay data fetch bamboo-p3-trace", "p3-trace.csv"},
    {"assay data fetch smartmoe-loads", "moe_trace"},
};

class HelpExamples : public ProgramTest {
  protected:
    HelpExamples() : ProgramTest(ASSAY_PROGRAM) {}

    EnvironmentVariable wide{"COLUMNS", "1000"}, home{"HOME", (folder / "home").string()};
    EnvironmentVariable settle{"ASSAY_SETTLE", "0"};  ///< other tests may run beside this one
    EnvironmentVariable data{"XDG_DATA_HOME", (folder / "home/share").string()};
    EnvironmentVariable own_data{"ASSAY_DATA", (folder / "home/share/assay/data").string()};

    void write(const fs::path& file, const std::string& text) const {
        fs::create_directories((folder.path() / file).parent_path());
        std::ofstream(folder.path() / file) << text;
    }
    Printed shell(const std::string& line) const {
        return run_program("/bin/bash", {"-c", "cd '" + folder.path().string() + "'\nPATH='" +
                                                   (folder / "bin").string() + "':$PATH\n" + line});
    }
};

/// Those of the command and of its subcommands.
void collect(const std::function<std::string(const std::string&)>& help_of,
             const std::string& command, std::vector<Example>& examples,
             std::vector<std::string>& without) {
    const std::string help = help_of(command);
    if (help.find("Usage: " + command + " ") == std::string::npos &&
        help.find("Usage: " + command + "\n") == std::string::npos)
        return;  // the help of something else: no command of this name
    std::istringstream lines(help);
    std::vector<std::string> names;
    bool in_examples = false;
    std::size_t own = 0;
    const bool has_subcommands = std::regex_search(help, std::regex("Usage: .*SUBCOMMAND"));
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line[0] != ' ')
            in_examples = line == "Examples:" || line == "Example:";
        std::smatch name;
        if (in_examples && line.starts_with("   ")) {
            examples.back().line += "\n" + line;
        } else if (in_examples && line.starts_with("  ")) {
            examples.push_back({command, line.substr(2)});
            own += std::regex_search(line, std::regex("\\b" + command + "( |$)"));
        } else if (has_subcommands &&
                   std::regex_search(line, name, std::regex("^  ([a-z][a-z_0-9]*)  +\\S"))) {
            names.push_back(name[1]);
        }
    }
    if (own == 0) without.push_back(command);
    for (const std::string& name : names) collect(help_of, command + " " + name, examples, without);
}

std::vector<Example> examples_of_help(const std::function<std::string(const std::string&)>& help_of,
                                      std::vector<std::string>& without) {
    std::vector<Example> examples;
    collect(help_of, "assay", examples, without);
    return examples;
}

constexpr const char* fake_gemv = R"(#!/bin/sh
for argument; do case "$argument" in --benchmark_out=*) out=${argument#--benchmark_out=};; esac; done
cat > "$out" <<END
{"context": {"num_cpus": 2}, "benchmarks": [
 {"name": "gemv/cpu/avx2/q4_1/192x576", "run_type": "iteration", "real_time": 100.$(($$ % 90 + 10)), "time_unit": "ns"}]}
END
)";

constexpr const char* small_suite = R"(name = "cpu"
rounds = 2
[[experiment]]
patterns = ["lazarus/fig4"]
[[benchmark]]
name = "gemv"
program = "PROGRAM"
)";

constexpr const char* benchmark_json =
    R"({"context": {"num_cpus": 2, "date": "2026-11-01T00:00:00Z"},
"benchmarks": [{"name": "BM_copy/64", "run_type": "iteration", "real_time": 1.0, "time_unit": "ns", "GFLOPS": 8},
 {"name": "b", "run_type": "iteration", "real_time": 2.0, "time_unit": "ns"},
 {"name": "c", "run_type": "iteration", "real_time": 3.0, "time_unit": "ns"}]})";

/// A safetensors file but for its last byte: its length, which is that of "=", and its header.
const std::string two_weights = std::string("=\0\0\0\0\0\0\0", 8) +
                                R"({"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}      )" +
                                "abc";

TEST_F(HelpExamples, CanBeTyped) {
    std::vector<std::string> without;
    const std::vector<Example> examples = examples_of_help(
        [&](const std::string& command) {
            std::vector<std::string> words;
            std::istringstream in(command.substr(std::string("assay").size()));
            for (std::string word; in >> word;) words.push_back(word);
            words.emplace_back("--help");
            return assay(words).out;
        },
        without);
    EXPECT_GT(examples.size(), 60U);
    EXPECT_TRUE(without.empty()) << "no example of their own: "
                                 << ::testing::PrintToString(without);

    // What the examples name.
    const fs::path tests = ASSAY_TESTS_FOLDER;
    fs::create_directories(folder / "bin");
    for (const char* name : {"bin/assay", "assay-old", "assay-new"})
        fs::create_symlink(ASSAY_PROGRAM, folder / name);
    write("gemv", fake_gemv);
    fs::permissions(folder / "gemv", fs::perms::owner_all);
    const std::string suite =
        std::regex_replace(small_suite, std::regex("PROGRAM"), (folder / "gemv").string());
    write("cpu.toml", suite);
    write("datasets/suites/cpu.toml", suite);
    write("loads.txt", "10 20 40 80");
    write("held-out.txt", "The moon was out, and nobody slept in the long white house.");
    write("answers.md",
          "## tea\nHow is tea made?\n### plan\n1. Water | deps: -\n2. Tea | deps: 1\nEND\n"
          "### 1\nBoil it.\n### 2\nPour it on the leaves.\n");
    for (const char* name : {"prompt.txt", "text.txt"}) write(name, "One, two\n");
    write("plan.txt", "1. Why | deps: -\n2. How | deps: 1\nEND\n");
    write("plans.jsonl",
          "{\"id\":\"a\",\"question_tokens\":5,\"static_plan_tokens\":20,\"static_node_tokens\":10,"
          "\"nodes\":[{\"i\":1,\"line_tokens\":3,\"lead_tokens\":2,\"out_tokens\":4,\"deps\":[]}]}"
          "\n");
    write("pool.jsonl", "{\"prompt\":\"1+1=\",\"completion\":\"2\"}\n{\"text\":\"hello there\"}\n");
    write("chat.jsonl", "{\"messages\":[{\"role\":\"assistant\",\"content\":\"Yes.\"}]}\n");
    write("mine.jsonl", "{\"prompt\":\"2+2=\",\"completion\":\"4\"}\n");
    write("requests.jsonl", "{\"id\":\"a\",\"ids\":[1,504,3575],\"max_tokens\":4}\n");
    write("responses.jsonl", "{\"prompt\":\"37+58=\",\"response\":\"95\"}\n");
    write("tags.jsonl", "{\"prompt\":\"tag 3+5=\",\"response\":\"<a>8</a>\"}\n");
    write("update.json",
          "{\"new\":[[-0.5]],\"old\":[[-0.6]],\"advantages\":[1],\"clip\":[0.2,0.2],"
          "\"aggregate\":\"token\"}");
    for (const char version : {'7', '8'})
        write(std::string("step-") + version + ".safetensors", two_weights + version);
    write("graphs.jsonl",
          "{\"batch\":1,\"nodes\":[{\"type\":\"memset\",\"fields\":{\"dst\":0}}],\"edges\":[]}\n");
    write("save.trace", "boundary\nalloc weights 100\nbegin 1\nalloc a 5\nend\n");
    write("load.trace", "boundary\nalloc weights 100\nload 1\n");
    fs::create_directories(folder / "images");
    fs::copy_file(tests / "foundry/images/pointers.cubin", folder / "kernels.cubin");
    write("spot.csv", "0,add,a\n0,add,b\n3600000,add,c\n7200000,remove,a\n14400000,remove,b\n");
    write("night.csv", "experiment,mean,started\ncopy,2.5,2026-11-20T02:00:00Z\n");
    for (const char* name : {"old.json", "new.json", "bench.json"}) write(name, benchmark_json);
    fs::create_directories(folder / "home/models");
    fs::create_symlink(tests / "../datasets/traces", folder / "datasets/traces");
    fs::copy_file(tests / "fuzz/corpus/hetermoe_profile/full", folder / "gpus.toml");
    fs::copy_file(tests / "fuzz/corpus/dr_gradients/gradients.json", folder / "gradients.json");
    fs::create_symlink(tests / "nn/golden/gpt2", folder / "home/models/gpt2");
    write("home/share/assay/data/devices/this-machine.toml",
          std::regex_replace(contents(tests / "../datasets/devices/t4.toml"),
                             std::regex("id = \"t4\""), "id = \"this-machine\""));
    ASSERT_EQ(shell("assay run lazarus/fig10b --json > run.json").exit_code, 0);
    const nlohmann::json run = nlohmann::json::parse(contents(folder / "run.json"));
    const EnvironmentVariable sample("SAMPLE", run["samples"][0]["id"]);
    const EnvironmentVariable session("SESSION", run["session"]);
    const Printed trained = shell(
        "assay run lazarus/fig9 --mode simulated --variant ds -a model=gpt-s -a relaunch_s=60 "
        "--json");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const EnvironmentVariable decided("DECIDED",
                                      nlohmann::json::parse(trained.out)["samples"][0]["id"]);
    const Printed prepared = shell(R"(set -e
assay import bench.json
assay run lte/fig8 --variant lte -a shape=smollm2-135m -a dtype=f32 -a sparsity=0.5 --rounds 1
assay nightly cpu.toml --no-doctor || test $? = 3
assay baseline accept cpu
assay baseline accept main --session $SESSION
assay qualify cpu.toml --rounds 6 --no-doctor --campaigns 5 --trials 5 --json > pool.json || test $? = 2
assay export --to other-machine.jsonl
assay export --to other-machine.db
cp other-machine.db last-year.db)");
    ASSERT_EQ(prepared.exit_code, 0) << prepared.err << prepared.out;
    const EnvironmentVariable pool(
        "POOL", nlohmann::json::parse(contents(folder / "pool.json"))["pool"]["session"]);
    const EnvironmentVariable summary("GITHUB_STEP_SUMMARY", (folder / "summary.md").string());
    const bool has_bible = shell("assay data fetch bible-kjv").exit_code == 0;
    if (has_bible)
        shell("assay run lazarus/x_operations -a width=32,64 -a sequences=2,16 --no-lock");
    const char* const model = std::getenv("ASSAY_TEST_MODEL");
    const bool has_model =
        model != nullptr && shell(
                                "assay data fetch smollm2-135m-instruct --from \"$ASSAY_TEST_MODEL"
                                "\" && cp \"$ASSAY_TEST_MODEL\" model.gguf")
                                    .exit_code == 0;

    for (const Example& example : examples) {
        std::string line = example.line.substr(0, example.line.find("  # "));
        line.erase(line.find_last_not_of(' ') + 1);
        const auto names = [&](const char* part) { return line.find(part) != std::string::npos; };
        // A Debian package, and what trains on it.
        if (!has_bible && (names("bible-kjv") || names("x_operations"))) continue;
        if (!has_model && (names("smollm2") || names("model.gguf"))) continue;  // 90 MB
        for (const Shortened& change : shortened)
            line = std::regex_replace(line, std::regex(change.part), change.instead);
        const Printed printed = shell(line);
        const std::string told = example.command + " --help: " + line + "\n" + printed.err;
        EXPECT_THAT(printed.err, Not(HasSubstr("--help` explains"))) << told;
        const auto wanted = std::find_if(std::begin(absent), std::end(absent),
                                         [&](const Absent& one) { return names(one.part); });
        // Beside other tests, durations scatter: a fit may rightly be refused.
        if (names("calibrate fit") &&
            printed.err.find("nothing can be fitted") != std::string::npos)
            continue;
        if (wanted == std::end(absent)) {
            EXPECT_NE(printed.exit_code, 1) << told << printed.out;
            EXPECT_LT(printed.exit_code, 5) << told << printed.out;
        } else {
            EXPECT_EQ(printed.exit_code, 1) << told;
            EXPECT_THAT(printed.err, HasSubstr(wanted->complaint)) << told;
        }
    }
}

TEST_F(HelpExamples, SuitesOfTheirPageCanBeNights) {
    write("bin/lazarus_planner_benchmark", fake_gemv);
    fs::permissions(folder / "bin/lazarus_planner_benchmark", fs::perms::owner_all);
    const std::string page =
        contents(fs::path(ASSAY_TESTS_FOLDER) / "../datasets/suites/README.md");
    const std::string fence = "```toml\n";
    int suites = 0;
    for (auto at = page.find(fence); at != page.npos; at = page.find(fence, at + 1)) {
        const std::string suite =
            page.substr(at + fence.size(), page.find("```", at + 3) - at - fence.size());
        if (suite.find("[[experiment]]") == suite.npos) continue;  // not a whole one
        write("page.toml", suite);
        const Printed planned =
            shell("PATH=$PWD/bin:$PATH " ASSAY_PROGRAM " nightly page.toml --dry-run");
        EXPECT_EQ(planned.exit_code, 0) << suite << planned.err;
        ++suites;
    }
    EXPECT_GT(suites, 0);
}

}  // namespace
}  // namespace assay::testing
