// The supervisor with real worker processes, however they were started: messages, deaths, hangs,
// stops, counts.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

#include "suite/cluster/processes/supervisor.hpp"
#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/ways_to_start.hpp"

namespace assay::cluster {
namespace {

class SupervisorTest : public ::testing::TestWithParam<Way> {
  protected:
    Supervisor& start(SupervisorOptions options = {}) {
        supervisor_.emplace(make_launcher(GetParam()), options);
        return *supervisor_;
    }
    WorkerId spawn_ready(const nlohmann::json& config = {{"do", "echo"}}) {
        const WorkerId id = supervisor_->spawn(config);
        const auto ready = next_of<WorkerMessage>(*supervisor_);
        EXPECT_EQ(ready->body.at("ready"), id);
        return id;
    }
    std::optional<Supervisor> supervisor_;
};
INSTANTIATE_TEST_SUITE_P(By, SupervisorTest, ::testing::Values(Way::fork, Way::exec), name_of);

TEST_P(SupervisorTest, MessagesGoBothWaysInOrder) {
    auto& supervisor = start();
    const auto a = spawn_ready(), b = spawn_ready();
    for (int i = 0; i < 200; ++i) {
        supervisor.send({a, b}, {{"i", i}});
    }
    std::map<WorkerId, int> next;
    while (next[a] < 200 || next[b] < 200) {
        const auto message = next_of<WorkerMessage>(supervisor);
        ASSERT_TRUE(message);
        EXPECT_EQ(message->body.at("echo").at("i"), next[message->worker]++);
    }
}

TEST_P(SupervisorTest, AMessageLargerThanAnySocketBufferArrivesWhole) {
    auto& supervisor = start();
    const auto id = spawn_ready();
    std::string text(6'000'000, 'x');
    for (std::size_t i = 0; i < text.size(); i += 997) text[i] = char('a' + i % 26);
    supervisor.send(id, {{"text", text}});
    const auto message = next_of<WorkerMessage>(supervisor);
    ASSERT_TRUE(message);
    EXPECT_TRUE(message->body.at("echo").at("text") == text);
    EXPECT_TRUE(supervisor.alive(id));
}

TEST_P(SupervisorTest, ALargeConfigReachesTheWorker) {
    auto& supervisor = start();
    supervisor.spawn({{"do", "exit"}, {"status", 3}, {"ballast", std::string(5'000'000, 'y')}});
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 3");
}

TEST_P(SupervisorTest, KillIsReportedOnceAndThePeersGoOn) {
    auto& supervisor = start();
    const auto a = spawn_ready(), b = spawn_ready();
    supervisor.kill(a);
    supervisor.kill(a);  // acts once
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->worker, a);
    EXPECT_EQ(died->how, "signal 9");
    EXPECT_FALSE(supervisor.alive(a));
    EXPECT_EQ(supervisor.alive(), std::vector<WorkerId>{b});
    supervisor.kill(a);
    supervisor.send(a, {{"to", "nobody"}});
    supervisor.send(b, {{"to", "b"}});
    const auto answer = supervisor.next(Seconds(30));
    ASSERT_TRUE(answer && std::holds_alternative<WorkerMessage>(*answer));
    EXPECT_EQ(std::get<WorkerMessage>(*answer).worker, b);
    EXPECT_EQ(supervisor.injected().kills, 1);
}

TEST_P(SupervisorTest, ADeathByAStrangersHandIsReportedToo) {
    auto& supervisor = start();
    const auto id = spawn_ready();
    ::kill(pid_t(supervisor.pid(id)), SIGUSR2);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "signal 12");
    EXPECT_EQ(supervisor.injected().kills, 0);
}

TEST_P(SupervisorTest, WhatAWorkerSaidLastComesBeforeItsDeath) {
    auto& supervisor = start();
    supervisor.spawn({{"do", "say_and_exit"}, {"messages", 500}});
    for (int i = 0; i < 500; ++i) {
        auto event = supervisor.next(Seconds(30));
        ASSERT_TRUE(event && std::holds_alternative<WorkerMessage>(*event)) << "message " << i;
        EXPECT_EQ(std::get<WorkerMessage>(*event).body.at("i"), i);
    }
    auto event = supervisor.next(Seconds(30));
    ASSERT_TRUE(event && std::holds_alternative<WorkerDied>(*event));
    EXPECT_EQ(std::get<WorkerDied>(*event).how, "exit 0");
}

TEST_P(SupervisorTest, AnExceptionInAWorkerIsToldWithItsDeath) {
    auto& supervisor = start();
    supervisor.spawn({{"do", "throw"}});
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 70: scripted failure");
}

TEST_P(SupervisorTest, AHangBeyondTheTimeoutIsADeath) {
    auto& supervisor = start({.heartbeat_timeout = Seconds(0.2)});
    const auto a = spawn_ready(), b = spawn_ready();
    supervisor.hang(a, std::nullopt);
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->worker, a);
    EXPECT_EQ(died->how.rfind("heartbeat lost after 0.2", 0), 0u) << died->how;
    EXPECT_FALSE(runs(supervisor.pid(a)));
    EXPECT_TRUE(supervisor.alive(b));
    EXPECT_EQ(supervisor.injected().hangs, 1);
    EXPECT_EQ(supervisor.injected().resumes, 0);
}

TEST_P(SupervisorTest, AHangShorterThanTheTimeoutIsSurvived) {
    auto& supervisor = start({.heartbeat_timeout = Seconds(0.4)});
    const auto id = spawn_ready();
    for (int round = 0; round < 3; ++round) {
        supervisor.hang(id, Seconds(0.35));
        ASSERT_TRUE(comes_true([&] { return process_state(supervisor.pid(id)) == 'T'; }, 0.3));
        supervisor.hang(id, Seconds(0.1));  // already hangs: acts once
        supervisor.send(id, {{"round", round}});
        const auto answer = next_of<WorkerMessage>(supervisor);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->body.at("echo").at("round"), round);
    }
    EXPECT_EQ(supervisor.injected().hangs, 3);
    EXPECT_EQ(supervisor.injected().resumes, 3);
}

TEST_P(SupervisorTest, ASupervisorThatWasHeldUpBlamesNobody) {
    auto& supervisor = start({.heartbeat_timeout = Seconds(0.2)});
    const auto id = spawn_ready();
    for (int round = 0; round < 2; ++round) {
        // The worker is stopped for a while unseen, and nobody looks until after it resumed.
        ::kill(pid_t(supervisor.pid(id)), SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        supervisor.next(Seconds(0));
        ::kill(pid_t(supervisor.pid(id)), SIGCONT);
        supervisor.send(id, {{"round", round}});
        EXPECT_EQ(next_of<WorkerMessage>(supervisor)->body.at("echo").at("round"), round);
    }
    EXPECT_TRUE(supervisor.alive(id));
}

TEST_P(SupervisorTest, AWorkerThatNeverBeatsIsADeath) {
    auto& supervisor = start({.start_timeout = Seconds(0.3)});
    supervisor.spawn({{"do", "never_start"}});
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->how.rfind("no heartbeat within 0.3", 0), 0u) << died->how;
}

TEST_P(SupervisorTest, StopIsARequestTheWorkerAnswers) {
    auto& supervisor = start();
    const auto id = spawn_ready();
    supervisor.stop(id);
    supervisor.stop(id);
    EXPECT_EQ(next_of<WorkerMessage>(supervisor)->body.at("stopping"), true);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 0");
    EXPECT_EQ(supervisor.injected().stops, 1);
}

TEST_P(SupervisorTest, TimersFireInOrderAndCanBeCancelled) {
    auto& supervisor = start();
    const auto late = supervisor.start_timer(Seconds(0.06));
    const auto early = supervisor.start_timer(Seconds(0.02));
    const auto never = supervisor.start_timer(Seconds(0.04));
    supervisor.cancel_timer(never);
    EXPECT_EQ(next_of<TimerFired>(supervisor)->id, early);
    EXPECT_EQ(next_of<TimerFired>(supervisor)->id, late);
    EXPECT_FALSE(supervisor.next(Seconds(0.05)));
    const auto unseen = supervisor.start_timer(Seconds(0));
    supervisor.start_timer(Seconds(0));
    EXPECT_TRUE(supervisor.next(Seconds(1)));
    supervisor.cancel_timer(unseen + 1);
    EXPECT_FALSE(supervisor.next(Seconds(0)));
}

TEST_P(SupervisorTest, WorkersHoldNoStrangersDescriptors) {
    const int strangers = ::open("/proc/self/status", O_RDONLY);  // without O_CLOEXEC
    auto& supervisor = start();
    spawn_ready();
    supervisor.spawn({{"do", "list_fds"}});
    const auto fds = next_of<WorkerMessage>(supervisor)->body.at("fds");
    int sockets = 0;
    for (const std::string fd : fds) {
        EXPECT_EQ(fd.find("/status"), std::string::npos) << fd;
        EXPECT_EQ(fd.find("pidfd"), std::string::npos) << fd;
        sockets += std::stoi(fd) > 2 && fd.find("socket:") != std::string::npos;
    }
    EXPECT_EQ(sockets, 1) << "its own channel and no other: " << fds.dump();
    ::close(strangers);
}

TEST_P(SupervisorTest, SigintAndSigtermBecomeEventsWhileItLives) {
    struct sigaction before {};
    ::sigaction(SIGINT, nullptr, &before);
    auto& supervisor = start();
    const auto id = spawn_ready();
    ::raise(SIGINT);
    EXPECT_EQ(next_of<Interrupted>(supervisor)->why, "SIGINT");
    ::raise(SIGTERM);
    EXPECT_EQ(next_of<Interrupted>(supervisor)->why, "SIGTERM");
    ::kill(pid_t(supervisor.pid(id)), SIGINT);  // to a worker: ignored
    supervisor.send(id, {{"still", "here"}});
    EXPECT_TRUE(next_of<WorkerMessage>(supervisor)->body.contains("echo"));
    supervisor_.reset();
    struct sigaction after {};
    ::sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST_P(SupervisorTest, TheLifelinesEndIsAnEvent) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    auto& supervisor = start({.lifeline_fd = ends[0]});
    spawn_ready();
    EXPECT_FALSE(supervisor.next(Seconds(0.05)));
    ::close(ends[1]);
    EXPECT_NE(next_of<Interrupted>(supervisor)->why.find("lifeline"), std::string::npos);
    EXPECT_FALSE(supervisor.next(Seconds(0.05))) << "it is told once";
    ::close(ends[0]);
}

TEST_P(SupervisorTest, ItsEndKillsAndReapsEveryWorker) {
    auto& supervisor = start();
    std::vector<long> pids;
    for (int i = 0; i < 6; ++i) pids.push_back(supervisor.pid(spawn_ready()));
    supervisor.hang(0, std::nullopt);
    supervisor_.reset();
    for (long pid : pids) EXPECT_EQ(process_state(pid), 0) << "worker " << pid;
    EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_P(SupervisorTest, ManyBusyWorkersOnFewCoresAreNotTakenForDead) {
    auto& supervisor = start();
    std::vector<WorkerId> ids;
    for (int i = 0; i < 10; ++i) ids.push_back(spawn_ready());
    long answers = 0;
    const double end = supervisor.now_s() + 1.5;
    supervisor.send(ids, {{"text", std::string(200'000, 'z')}});
    while (supervisor.now_s() < end) {
        auto event = supervisor.next(Seconds(0.05));
        if (!event) continue;
        ASSERT_FALSE(std::holds_alternative<WorkerDied>(*event))
            << std::get<WorkerDied>(*event).how;
        if (const auto* message = std::get_if<WorkerMessage>(&*event)) {
            ++answers;
            supervisor.send(message->worker, {{"text", message->body.at("echo").at("text")}});
        }
    }
    EXPECT_GT(answers, 0);
}

TEST_P(SupervisorTest, RefusesImpossibleHeartbeats) {
    EXPECT_THROW(start({.heartbeat_interval = Seconds(0.5)}), std::invalid_argument);
    EXPECT_THROW(start({.heartbeat_interval = Seconds(0)}), std::invalid_argument);
}

}  // namespace
}  // namespace assay::cluster
