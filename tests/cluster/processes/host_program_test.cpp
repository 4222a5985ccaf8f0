// A supervisor inside a program that has a life of its own: children, threads, signal handlers, an
// environment; and other supervisors, before, after and beside it.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include "suite/base/process.hpp"
#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/ways_to_start.hpp"

namespace assay::cluster {
namespace {

std::vector<std::string> environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}

bool is_subreaper() {
    int flag = 0;
    ::prctl(PR_GET_CHILD_SUBREAPER, &flag);
    return flag != 0;
}

/// One run from the first worker to the last: echoes, a kill, a worker that ends by itself.
void run_once(Supervisor& supervisor, std::size_t launcher = 0) {
    const auto a = supervisor.spawn({{"do", "echo"}}, launcher);
    const auto b = supervisor.spawn({{"do", "echo"}}, launcher);
    for (int ready = 0; ready < 2; ++ready) ASSERT_TRUE(next_of<WorkerMessage>(supervisor));
    supervisor.send({a, b}, {{"text", "hello"}});
    for (int answers = 0; answers < 2; ++answers)
        ASSERT_EQ(next_of<WorkerMessage>(supervisor)->body.at("echo").at("text"), "hello");
    supervisor.kill(a);
    ASSERT_EQ(next_of<WorkerDied>(supervisor)->how, "signal 9");
    const auto c = supervisor.spawn({{"do", "exit"}, {"status", 3}}, launcher);
    const auto died = next_of<WorkerDied>(supervisor);
    ASSERT_EQ(died->worker, c);
    ASSERT_EQ(died->how, "exit 3");
    supervisor.stop(b);
    ASSERT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 0");
    ASSERT_TRUE(supervisor.alive().empty());
}

class HostProgram : public ::testing::TestWithParam<Way> {
  protected:
    void SetUp() override {
        // Other tests of this program make themselves that.
        ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    }
};
INSTANTIATE_TEST_SUITE_P(By, HostProgram, ::testing::Values(Way::fork, Way::exec), name_of);

TEST_P(HostProgram, RunsOneAfterTheOtherAndIsThenAsItWas) {
    ::unsetenv("TORCH_FR_BUFFER_SIZE");
    const auto before = environment();
    const auto descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto open_before = descriptors();
    for (int round = 0; round < 4; ++round) {
        Supervisor supervisor(make_launcher(GetParam()), {});
        EXPECT_EQ(environment(), before) << "while it lives";
        EXPECT_FALSE(is_subreaper()) << "strangers' orphans are none of its business";
        run_once(supervisor);
    }
    EXPECT_EQ(environment(), before);
    EXPECT_EQ(descriptors(), open_before);
    EXPECT_TRUE(children_of(::getpid()).empty());
    EXPECT_FALSE(is_subreaper());
}

TEST_P(HostProgram, ItsOwnChildrenAreNeitherReapedNorKilled) {
    Process ended = Process::forked([] { return 7; });
    ASSERT_TRUE(comes_true([&] { return process_state(ended.pid()) == 'Z'; }));
    Process lives = Process::spawn({.arguments = {"sleep", "1000"}, .own_group = true});
    Process meanwhile;
    {
        Supervisor supervisor(make_launcher(GetParam()), {});
        run_once(supervisor);
        meanwhile = Process::forked([] { return 8; });
        ASSERT_TRUE(comes_true([&] { return process_state(meanwhile.pid()) == 'Z'; }));
        run_once(supervisor);
    }
    EXPECT_EQ(ended.wait().code, 7);
    EXPECT_EQ(meanwhile.wait().code, 8);
    EXPECT_TRUE(runs(lives.pid()));
    lives.kill();
    EXPECT_EQ(lives.wait().signal, SIGKILL);
}

/// Sets what this process does about a signal, for as long as it lives.
class Disposition {
  public:
    Disposition(int number, void (*handler)(int)) : number_(number) {
        ::sigaction(number, nullptr, &before_);
        ::signal(number, handler);
    }
    ~Disposition() { ::sigaction(number_, &before_, nullptr); }

  private:
    int number_;
    struct sigaction before_ {};
};

// As a program does that wants no zombies, or waits for just any child.
TEST_P(HostProgram, MayTakeEveryExitStatusForItself) {
    for (const bool ignores : {true, false}) {
        std::optional<Disposition> ignored;
        if (ignores) ignored.emplace(SIGCHLD, SIG_IGN);
        Supervisor supervisor(make_launcher(GetParam()), {});
        const auto id = supervisor.spawn({{"do", "echo"}});
        ASSERT_TRUE(next_of<WorkerMessage>(supervisor));
        supervisor.kill(id);
        if (!ignores && GetParam() == Way::exec) {
            ASSERT_EQ(::waitpid(-1, nullptr, 0), supervisor.pid(id));
        }
        const auto died = next_of<WorkerDied>(supervisor);
        EXPECT_EQ(died->how, GetParam() == Way::fork
                                 ? "signal 9"
                                 : "gone, exit status taken by other code of this process");
        supervisor.spawn({{"do", "echo"}});
        EXPECT_TRUE(next_of<WorkerMessage>(supervisor)) << "and it goes on";
    }
    EXPECT_TRUE(children_of(::getpid()).empty());
}

std::atomic<int> heard{0};
void hear(int) { ++heard; }

TEST_P(HostProgram, SignalsAreItsOwnAgainAfterwardsAlsoWhereItSetsHandlersMeanwhile) {
    const Disposition interrupt(SIGINT, hear), terminate(SIGTERM, hear);
    heard = 0;
    for (int round = 0; round < 2; ++round) {
        {
            Supervisor supervisor(make_launcher(GetParam()), {});
            Supervisor second(make_exec_launcher(test_program()), {});
            ::raise(SIGTERM);
            EXPECT_EQ(next_of<Interrupted>(supervisor)->why, "SIGTERM");
            EXPECT_EQ(next_of<Interrupted>(second)->why, "SIGTERM") << "each is told";
        }
        EXPECT_EQ(heard, round);
        ::raise(SIGTERM);
        EXPECT_EQ(heard, round + 1);
    }
    {
        Supervisor supervisor(make_launcher(GetParam()), {});
        ::signal(SIGINT, SIG_IGN);
    }
    struct sigaction after {};
    ::sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST_P(HostProgram, TwoSupervisorsTakeTurnsInOneThread) {
    Supervisor one(make_launcher(GetParam()), {}), two(make_launcher(GetParam()), {});
    const auto a = one.spawn({{"do", "echo"}}), b = two.spawn({{"do", "echo"}});
    EXPECT_EQ(a, b) << "each counts its own";
    for (auto* supervisor : {&one, &two}) ASSERT_TRUE(next_of<WorkerMessage>(*supervisor));
    EXPECT_NE(one.pid(a), two.pid(b));
    for (int i = 0; i < 50; ++i)
        for (auto* supervisor : {&one, &two}) {
            supervisor->send(0, {{"i", i}});
            ASSERT_EQ(next_of<WorkerMessage>(*supervisor)->body.at("echo").at("i"), i);
        }
    one.kill(a);
    EXPECT_EQ(next_of<WorkerDied>(one)->how, "signal 9");
    EXPECT_FALSE(two.next(Seconds(0.05)));
    EXPECT_TRUE(runs(two.pid(b)));
}

TEST_P(HostProgram, TheEndOfOneSupervisorIsNotTheOthers) {
    std::optional<Supervisor> one;
    one.emplace(make_launcher(GetParam()), SupervisorOptions{});
    Supervisor two(make_launcher(GetParam()), {});
    one->spawn({{"do", "echo"}});
    const auto stays = two.spawn({{"do", "echo"}});
    ASSERT_TRUE(next_of<WorkerMessage>(*one));
    ASSERT_TRUE(next_of<WorkerMessage>(two));
    const long gone = one->pid(0);
    one.reset();
    EXPECT_FALSE(runs(gone));
    two.send(stays, {{"still", "here"}});
    EXPECT_TRUE(next_of<WorkerMessage>(two));
}

TEST_P(HostProgram, SupervisorsRunInThreads) {
    std::vector<std::unique_ptr<Launcher>> launchers;  // before there are threads
    for (int i = 0; i < 3; ++i) launchers.push_back(make_launcher(GetParam()));
    std::vector<std::thread> threads;
    for (auto& launcher : launchers)
        threads.emplace_back([&launcher] {
            std::optional<Supervisor> supervisor;
            // The thread that it began in may end before it does.
            std::thread([&] {
                supervisor.emplace(std::move(launcher), SupervisorOptions{});
                run_once(*supervisor);
                supervisor->spawn({{"do", "echo"}});
                EXPECT_TRUE(next_of<WorkerMessage>(*supervisor));
            }).join();
            const auto stays = supervisor->alive();
            EXPECT_EQ(stays.size(), 1u);
            supervisor->send(stays, {{"text", "hello"}});
            EXPECT_EQ(next_of<WorkerMessage>(*supervisor)->body.at("echo").at("text"), "hello");
            supervisor->kill(stays.front());
            EXPECT_EQ(next_of<WorkerDied>(*supervisor)->how, "signal 9");
            run_once(*supervisor);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_P(HostProgram, OneSupervisorMayStartWorkersInSeveralWays) {
    // The fork server first: the other one has a thread once it has started somebody.
    Supervisor supervisor(make_fork_server(scripted_worker), {});
    const auto by_exec = supervisor.add_launcher(make_exec_launcher(test_program()));
    const std::size_t here = GetParam() == Way::exec ? by_exec : 0;
    const std::size_t there = by_exec - here;
    const auto first = supervisor.spawn({{"do", "echo"}}, here);
    ASSERT_TRUE(next_of<WorkerMessage>(supervisor));
    const auto second = supervisor.spawn({{"do", "echo"}}, there);
    ASSERT_TRUE(next_of<WorkerMessage>(supervisor));
    supervisor.send({first, second}, {{"text", "hello"}});
    std::set<WorkerId> answered;
    while (answered.size() < 2) answered.insert(next_of<WorkerMessage>(supervisor)->worker);
    supervisor.kill(second);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->worker, second);
    supervisor.stop(first);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 0");
}

}  // namespace
}  // namespace assay::cluster
