// assay db watch: beside a run, in another process, as a user has it in another terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/base/processes.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class DbWatchTest : public ProgramTest {
  protected:
    DbWatchTest() : ProgramTest(ASSAY_DUMMY_PROGRAM) { assay({"run", "dummy/sum", "-a", "n=2"}); }

    /// `arguments` of `assay db watch`, while `assay run dummy/behave` goes on.
    Printed watch(std::vector<std::string> arguments, const std::string& how = "grow") const {
        arguments.insert(arguments.begin(), {"db", "watch"});
        return assay(arguments, [&](pid_t) { assay({"run", "dummy/behave", "-a", "how=" + how}); });
    }
    /// Calls `meanwhile(runner)` once the sample of a run that would take an hour has stored
    /// something.
    void beside_a_long_run(const std::function<void(pid_t)>& meanwhile) const {
        assay({"run", "dummy/behave", "-a", "how=grow_and_hang"}, [&](pid_t runner) {
            EXPECT_TRUE(eventually([&] {
                const json events = assay_json({"db", "check"})["rows"]["event"];
                return events > 3 + 20;  // those of dummy/sum, and some
            }));
            meanwhile(runner);
            ::kill(runner, SIGKILL);
        });
    }

    EnvironmentVariable settle{"ASSAY_SETTLE", "0"};
};

TEST_F(DbWatchTest, PrintsWhatARunStoresAndEndsWithIt) {
    const Printed printed = watch({"--wait"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(
        printed.out,
        AllOf(ContainsRegex("^[0-9a-f]{8}  session, 1 planned: .*how=grow\n"),
              ContainsRegex("[0-9a-f]{8}  dummy/behave only how=grow seed [0-9]+\n"),
              HasSubstr("    0.02 s commit {\"step\":1}\n"),
              ContainsRegex("    loss.rank=0.: [0-9]+ points to 0.78 s, the last 0.025 nat"),
              HasSubstr("    value = 1 count\n"), ContainsRegex("  ok in "),
              ContainsRegex("session finished\n$")));
    EXPECT_THAT(printed.out, Not(HasSubstr("dummy/sum"))) << "what was there before";
    EXPECT_EQ(printed.err, "");
}

TEST_F(DbWatchTest, AsJsonTellsEveryRowOnceWhileItRuns) {
    const Printed printed = watch({"--wait", "--json"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    std::istringstream lines(printed.out);
    std::vector<std::string> statuses;
    std::vector<int> steps;
    std::size_t points = 0, pieces = 0, metrics = 0, while_running = 0;
    std::string state;
    for (std::string line; std::getline(lines, line);) {
        const json object = json::parse(line);
        const std::string kind = object.at("kind");
        if (kind == "session") state = object.at("state");
        if (kind == "sample") statuses.push_back(object.at("status"));
        if (kind == "event") {
            steps.push_back(object.at("detail").at("step"));
            while_running += statuses.back() == "running";
        }
        if (kind == "series" && object.at("labels") == json{{"rank", 0}}) {
            ++pieces;
            points += object.at("values").size();
        }
        metrics += kind == "metric";
    }
    ASSERT_EQ(statuses.size(), 2u);
    EXPECT_EQ(statuses[0], "running");
    EXPECT_THAT(statuses[1], AnyOf("ok", "invalid")) << "where the machine's clock was throttled";
    EXPECT_EQ(state, "finished");
    ASSERT_EQ(steps.size(), 40u);
    for (int step = 0; step < 40; ++step) EXPECT_EQ(steps[static_cast<std::size_t>(step)], step);
    EXPECT_EQ(points, 40u);
    EXPECT_GE(pieces, 2u);
    EXPECT_GE(while_running, 10u);
    EXPECT_EQ(metrics, 1u);
}

TEST_F(DbWatchTest, WhereNothingRunsSaysSo) {
    const Printed printed = assay({"db", "watch"});
    EXPECT_EQ(printed.exit_code, 0);
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err, HasSubstr("nothing is running; with --wait"));
}

TEST_F(DbWatchTest, EndsWithARunnerThatWasKilled) {
    Printed printed;
    std::thread watching;
    beside_a_long_run([&](pid_t) {
        watching = std::thread([&] { printed = assay({"db", "watch"}); });
        std::this_thread::sleep_for(400ms);
    });
    watching.join();
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.out, HasSubstr("commit {\"step\":0}")) << "from the session's beginning";
    EXPECT_THAT(printed.err, HasSubstr("its runner ended before it was finished"));
    EXPECT_THAT(assay({"db", "watch"}).err, HasSubstr("its runner ended"))
        << "nobody has written since";
}

// Half a sample is no result, for no command.
TEST_F(DbWatchTest, WhatRunsChangesNoResult) {
    assay({"run", "dummy/behave", "-a", "how=well"});
    const auto results = [&] {
        std::vector<std::string> all;
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{"claims", "--again", "--json"},
              {"history", "dummy/behave", "--json"},
              {"report", "--text"},
              {"export", "--csv"},
              {"export", "--json"},
              {"compare", "latest", "latest", "--json"}})
            all.push_back(assay(command).out);
        const std::string archive = (folder / "archive.jsonl").string();
        assay({"export", "--to", archive});
        std::istringstream lines(contents(archive));
        std::string samples;
        for (std::string line; std::getline(lines, line);)
            for (const char* table : {"sample", "metric", "event", "time_series"})
                if (line.starts_with(std::string("{\"table\":\"") + table + '"')) samples += line;
        all.push_back(samples);
        return all;
    };
    const std::vector<std::string> before = results();
    for (const std::string& text : before) EXPECT_NE(text, "");
    beside_a_long_run([&](pid_t) { EXPECT_EQ(results(), before); });
}

TEST_F(DbWatchTest, EndsWhenItIsInterrupted) {
    Printed printed;
    beside_a_long_run([&](pid_t) {
        printed = assay({"db", "watch"}, [](pid_t watching) {
            std::this_thread::sleep_for(400ms);
            ::kill(watching, SIGINT);
        });
    });
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("commit"));
}

TEST_F(DbWatchTest, NoticesThatTheFileWasReplaced) {
    Printed printed;
    beside_a_long_run([&](pid_t) {
        printed = assay({"db", "watch"}, [&](pid_t) {
            std::this_thread::sleep_for(400ms);
            const std::string other = (folder / "other.db").string();
            assay({"run", "dummy/sum", "-a", "n=2", "--db", other});
            for (const char* part : {"-wal", "-shm"})
                std::filesystem::remove((folder / "results.db").string() + part);
            std::filesystem::rename(other, folder / "results.db");
        });
    });
    EXPECT_EQ(printed.exit_code, 0) << "nothing runs in the new one";
    EXPECT_THAT(printed.err, HasSubstr("cleaned up or replaced"));
}

}  // namespace
}  // namespace assay::testing
