// Fixture of tests that give nights of a tiny suite to a program of the build, whose speed a test
// sets.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <thread>

#include "suite/store/nights.hpp"
#include "suite/store/store.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Every run is a night of its own: tests do not wait for hours.
inline constexpr const char* suite_text = R"(name = "tiny"
min_apart_h = 0
rounds = 5
margin = 0.02
control = false
[[experiment]]
patterns = ["night/work"]
axes = { n = 1 }
[[benchmark]]
name = "fake"
program = "fake_benchmark"
arguments = ["--one argument"]
)";

/// A program that speaks Google Benchmark's JSON; its time stands in a file beside it.
inline constexpr const char* fake_benchmark = R"(#!/bin/sh
folder=$(dirname "$0")
time=100
[ -f "$folder/fake_time" ] && time=$(cat "$folder/fake_time")
out=
for argument; do case "$argument" in --benchmark_out=*) out=${argument#--benchmark_out=};; esac; done
[ "$1" = "--one argument" ] || exit 3
cat > "$out" <<END
{"context": {"num_cpus": 2}, "benchmarks": [
 {"name": "BM_x/8", "run_type": "iteration", "real_time": $time.$(($$ % 90 + 10)), "time_unit": "ns"},
 {"name": "BM_y", "run_type": "iteration", "real_time": 7.0, "time_unit": "us"}]}
END
)";

/// The program in a folder of its own, in which a test can make it slower.
class NightlyTest : public ProgramTest {
  protected:
    NightlyTest() : ProgramTest((folder_of_program() / "assay").string()) {
        fs::create_directories(program_folder);
        fs::copy_file(ASSAY_NIGHTLY_PROGRAM, program_folder / "assay");
        write("fake_benchmark", fake_benchmark);
        fs::permissions(program_folder / "fake_benchmark", fs::perms::owner_all);
        std::ofstream(folder / "tiny.toml") << suite_text;
    }
    ~NightlyTest() override { fs::remove_all(program_folder); }

    static fs::path folder_of_program() {
        return fs::temp_directory_path() / ("assay-nightly-test-" + std::to_string(::getpid()));
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(program_folder / name) << text;
    }
    void slow_build(const std::string& variant, double factor) const {
        write("factor." + variant, std::to_string(factor));
    }

    struct Told {
        int exit_code = -1;
        json report;
        std::string err;
    };
    Told night(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"nightly", (folder / "tiny.toml").string(), "--json",
                                              "--no-doctor"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Printed printed = assay(arguments);
        Told told{printed.exit_code, json(), printed.err};
        if (json::accept(printed.out)) told.report = json::parse(printed.out);
        EXPECT_TRUE(told.report.is_object()) << printed.out << printed.err;
        return told;
    }
    /// What a command that must fail says.
    std::string refusal(const std::vector<std::string>& arguments) const {
        const Printed printed = assay(arguments);
        EXPECT_EQ(printed.exit_code, 1) << printed.out;
        return printed.err;
    }
    void accept(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"baseline", "accept", "tiny"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Printed printed = assay(arguments);
        EXPECT_EQ(printed.exit_code, 0) << printed.err;
    }
    /// The row of the variant's seconds, or of a benchmark.
    static json row(const json& report, const std::string& series, const std::string& metric) {
        for (const json& row : report["rows"])
            if (row["series"].get<std::string>().rfind(series, 0) == 0 && row["metric"] == metric)
                return row;
        ADD_FAILURE() << "no row " << series << ' ' << metric << " in " << report.dump(1);
        return json::object();
    }
    static json left(const json& report) { return row(report, "night/work left", "seconds"); }
    /// Of the session that began last.
    std::size_t samples_so_far() const {
        const auto store = store::Store::open(folder / "results.db", store::Access::read);
        const auto sessions = store.sessions();  // one that was killed may still count as running
        const auto& session =
            *std::max_element(sessions.begin(), sessions.end(),
                              [](const auto& a, const auto& b) { return a.started < b.started; });
        return session.state == "running" ? store.samples(session.id).size() : 0;
    }
    /// One that is killed in its middle. There was another night before.
    void killed_night() const {
        const EnvironmentVariable slowly("ASSAY_TEST_SLOWLY", "1");
        assay({"nightly", (folder / "tiny.toml").string(), "--no-doctor"}, [&](pid_t pid) {
            for (int i = 0; i < 1000 && samples_so_far() < 2; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ::kill(pid, SIGKILL);
        });
    }
    json regressions() const { return assay_json({"regressions", "--all"}); }

    fs::path program_folder = folder_of_program();
};

}  // namespace assay::testing
