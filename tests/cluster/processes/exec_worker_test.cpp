// Workers that are programs of their own: what they are given, how they end, what ends with them.
// (What holds for workers however they were started is in supervisor_test.cpp and orphan_test.cpp.)
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "suite/base/process.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/ways_to_start.hpp"

namespace assay::cluster {
namespace {

using testing::EnvironmentVariable;

class ExecWorker : public ::testing::Test {
  protected:
    Supervisor& start(ExecProgram program, SupervisorOptions options = {}) {
        supervisor_.emplace(make_exec_launcher(std::move(program)), options);
        return *supervisor_;
    }
    nlohmann::json surroundings(ExecProgram program, const nlohmann::json& config = {}) {
        auto& supervisor = start(std::move(program));
        supervisor.spawn(config);
        return next_of<WorkerMessage>(supervisor)->body;
    }
    /// How the only worker of that program ends.
    std::string end_of(ExecProgram program) {
        auto& supervisor = start(std::move(program));
        supervisor.spawn({{"do", "echo"}});
        return next_of<WorkerDied>(supervisor)->how;
    }
    std::optional<Supervisor> supervisor_;
};

TEST_F(ExecWorker, IsANameAndAConfiguration) {
    auto& supervisor = start(test_program("scripted"));
    const auto others = supervisor.add_launcher(make_exec_launcher(test_program("surroundings")));
    const auto scripted = supervisor.spawn({{"do", "echo"}});
    EXPECT_EQ(next_of<WorkerMessage>(supervisor)->body.at("ready"), scripted);
    const nlohmann::json config{{"list", {1, 2}}, {"name", "mine"}, {"worker", -7}};
    const auto other = supervisor.spawn(config, others);
    const auto told = next_of<WorkerMessage>(supervisor);
    EXPECT_EQ(told->worker, other);
    EXPECT_EQ(told->body.at("config"), config);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 0");
    EXPECT_TRUE(supervisor.alive(scripted));
}

TEST_F(ExecWorker, HasItsArgumentsAndEnvironmentAndNothingToRead) {
    const EnvironmentVariable kept("ASSAY_TEST_KEPT", "as it was");
    const EnvironmentVariable changed("ASSAY_TEST_CHANGED", "before");
    ExecProgram program = test_program("surroundings");
    program.arguments = {"--one", "two words", ""};
    program.environment = {{"ASSAY_TEST_CHANGED", "after"}, {"ASSAY_TEST_NEW", "a=b"}};
    const auto told = surroundings(program);
    EXPECT_EQ(told.at("arguments"), nlohmann::json({ASSAY_TEST_WORKERS, "--one", "two words", ""}));
    const auto& environment = told.at("environment");
    EXPECT_EQ(environment.at("ASSAY_TEST_KEPT"), nlohmann::json({"as it was"}));
    EXPECT_EQ(environment.at("ASSAY_TEST_CHANGED"), nlohmann::json({"after"}));
    EXPECT_EQ(environment.at("ASSAY_TEST_NEW"), nlohmann::json({"a=b"}));
    EXPECT_EQ(told.at("input"), "/dev/null");
    EXPECT_EQ(told.at("leads_group"), true);
    EXPECT_STREQ(::getenv("ASSAY_TEST_CHANGED"), "before");
    EXPECT_EQ(::getenv("ASSAY_TEST_NEW"), nullptr);
}

TEST_F(ExecWorker, TheFlightRecorderIsOffInTheWorkerAloneUnlessSomebodySaysOtherwise) {
    const char* name = "TORCH_FR_BUFFER_SIZE";
    const char* older = "TORCH_NCCL_TRACE_BUFFER_SIZE";
    ::unsetenv(name);
    ::unsetenv(older);
    ExecProgram program = test_program("surroundings");
    EXPECT_EQ(surroundings(program).at("environment").at(name), nlohmann::json({"0"}));
    EXPECT_EQ(::getenv(name), nullptr);
    program.environment = {{name, "100"}};
    EXPECT_EQ(surroundings(program).at("environment").at(name), nlohmann::json({"100"}));
    program.environment = {{older, "100"}};
    EXPECT_FALSE(surroundings(program).at("environment").contains(name));
    program.environment.clear();
    const EnvironmentVariable ours(older, "2000");
    EXPECT_FALSE(surroundings(program).at("environment").contains(name));
}

TEST_F(ExecWorker, ACrashIsItsSignal) { EXPECT_EQ(end_of(test_program("crash")), "signal 11"); }

TEST_F(ExecWorker, AProgramThatCannotBeStartedIsADeathThatSaysWhy) {
    EXPECT_EQ(end_of({.program = "/nowhere/worker"}),
              "/nowhere/worker cannot be started: No such file or directory");
    EXPECT_EQ(end_of({.program = "assay-no-such-worker"}),
              "assay-no-such-worker cannot be started: No such file or directory");
    EXPECT_EQ(end_of({.program = "/dev/null"}), "/dev/null cannot be started: Permission denied");
    EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_F(ExecWorker, AProgramWithoutThatWorkerSaysWhichItHas) {
    EXPECT_EQ(end_of(test_program("conductor")),
              "exit 70: there is no worker 'conductor' in this program, only: crash, scripted, "
              "surroundings, with_helpers");
}

TEST_F(ExecWorker, AProgramThatIsNoWorkerIsSilentOrGone) {
    EXPECT_EQ(end_of({.program = "true"}), "exit 0");
    auto& supervisor =
        start({.program = "sleep", .arguments = {"1000"}}, {.start_timeout = Seconds(0.2)});
    const auto id = supervisor.spawn({});
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how.rfind("no heartbeat within 0.2", 0), 0u);
    EXPECT_FALSE(runs(supervisor.pid(id)));
}

TEST_F(ExecWorker, AWorkersProgramThatSomebodyElseStartsSaysWhoShould) {
    Process process = Process::spawn({.arguments = {ASSAY_TEST_WORKERS}, .err = Stream::pipe()});
    EXPECT_EQ(read_to_end(process.err),
              "this program is a worker: a supervisor starts it, by make_exec_launcher()\n");
    EXPECT_EQ(process.wait().code, 1);
}

TEST_F(ExecWorker, AStopThatComesBeforeItsMainIsARequestAllTheSame) {
    ExecProgram program = test_program();
    program.arguments = {"late:0.2"};
    auto& supervisor = start(program);
    const auto id = supervisor.spawn({{"do", "echo"}});
    while (supervisor.pid(id) < 0) supervisor.next(Seconds(0.01));
    supervisor.stop(id);
    EXPECT_EQ(supervisor.injected().stops, 1);
    EXPECT_EQ(next_of<WorkerMessage>(supervisor)->body.at("ready"), id);
    EXPECT_EQ(next_of<WorkerMessage>(supervisor)->body.at("stopping"), true);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 0");
}

TEST_F(ExecWorker, WhatItStartedGoesWithItHoweverItEnds) {
    auto& supervisor = start(test_program("with_helpers"));
    for (const char* what : {"stay", "leave"}) {
        const auto id = supervisor.spawn({{"do", what}});
        const std::vector<long> helpers = next_of<WorkerMessage>(supervisor)->body.at("helpers");
        supervisor.kill(id);
        next_of<WorkerDied>(supervisor);
        for (const long helper : helpers)
            EXPECT_TRUE(comes_true([&] { return !runs(helper); })) << what;
    }
}

// The one that runs has tied itself to its launcher, the other has not come to that; a group goes
// with its leader. Our host's first thread is slow to die, so that others end before it, and before
// its descriptors are closed.
TEST_F(ExecWorker, DiesWithTheProcessThatStartedItAndSoDoItsHelpers) {
    for (int round = 0; round < 4; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        Process host = Process::forked([&] {
            Supervisor supervisor(make_exec_launcher(test_program("with_helpers")), {});
            ExecProgram late = test_program();
            late.arguments = {"late:1000"};
            const auto second = supervisor.add_launcher(make_exec_launcher(late));
            supervisor.spawn({{"do", "stay"}});
            supervisor.spawn({{"do", "stay"}}, second);
            std::vector<long> pids = next_of<WorkerMessage>(supervisor)->body.at("helpers");
            while (supervisor.pid(1) < 0) supervisor.next(Seconds(0.01));
            pids.push_back(supervisor.pid(0));
            pids.push_back(supervisor.pid(1));
            if (::write(ends[1], pids.data(), pids.size() * sizeof(long)) < 0) return 1;
            while (true) {  // what the kernel does not interrupt
                constexpr std::size_t bytes = std::size_t{64} << 20;
                void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
                ::munmap(memory, bytes);
            }
        });
        std::vector<long> pids(4);
        ASSERT_EQ(::read(ends[0], pids.data(), 4 * sizeof(long)), ssize_t(4 * sizeof(long)));
        ::close(ends[0]);
        ::close(ends[1]);
        for (const long pid : pids) EXPECT_TRUE(runs(pid));
        host.kill();
        host.wait();
        for (const long pid : pids) EXPECT_TRUE(comes_true([&] { return !runs(pid); }));
    }
}

}  // namespace
}  // namespace assay::cluster
