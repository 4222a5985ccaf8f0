// Nothing survives a SIGKILL of anyone: a process of its own runs a supervisor with workers;
// somebody is killed; every process that must go is gone, and reaped.
#include <fcntl.h>
#include <sys/prctl.h>

#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/ways_to_start.hpp"

namespace assay::cluster {
namespace {

struct Family {
    long supervisor = -1;
    long fork_server = -1;  ///< where there is one
    std::vector<long> workers;
    long copy = -1;  ///< where there is one
};

enum class Besides {
    nothing,
    hang,  ///< the first worker is stopped for ever
    copy,  ///< the supervisor's process has forked itself
};

/// Forks a process that supervises `count` echoing workers and tells who is who.
Family start_family(Way way, int count, Besides besides = Besides::nothing) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Family family;
    family.supervisor = ::fork();
    if (family.supervisor == 0) {
        Supervisor supervisor(make_launcher(way), {.heartbeat_timeout = Seconds(1000)});
        std::vector<long> pids{way == Way::fork ? children_of(::getpid()).at(0) : -1};
        for (int i = 0; i < count; ++i) {
            const auto id = supervisor.spawn({{"do", "echo"}});
            next_of<WorkerMessage>(supervisor);
            pids.push_back(supervisor.pid(id));
        }
        if (besides == Besides::hang) {
            supervisor.hang(0, std::nullopt);
            comes_true([&] { return process_state(pids[1]) == 'T'; });
        }
        pids.push_back(besides == Besides::copy ? ::fork() : -1);
        for (; pids.back() == 0;) ::pause();
        if (::write(ends[1], pids.data(), pids.size() * sizeof(long)) < 0) ::_exit(1);
        while (true) {
            const auto event = supervisor.next(Seconds(1));
            if (event && std::holds_alternative<Interrupted>(*event)) break;
        }
        // As a program that was interrupted: ends its workers in order, then itself.
        supervisor.~Supervisor();
        ::_exit(0);
    }
    std::vector<long> pids(count + 2);
    EXPECT_EQ(::read(ends[0], pids.data(), pids.size() * sizeof(long)),
              ssize_t(pids.size() * sizeof(long)));
    ::close(ends[0]);
    ::close(ends[1]);
    family.fork_server = pids[0];
    family.workers.assign(pids.begin() + 1, pids.end() - 1);
    family.copy = pids.back();
    return family;
}

class Orphans : public ::testing::TestWithParam<Way> {
  protected:
    void SetUp() override {
        // What loses its parent comes to us, so that we can tell gone from not reaped.
        ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    }
    static bool all_gone(const Family& family) {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
        std::vector<long> pids = family.workers;
        if (family.fork_server > 0) pids.push_back(family.fork_server);
        pids.push_back(family.supervisor);
        for (long pid : pids) {
            if (process_state(pid) != 0) return false;
        }
        return true;
    }
    static void expect_all_gone(const Family& family) {
        EXPECT_TRUE(comes_true([&] { return all_gone(family); }));
        EXPECT_TRUE(children_of(::getpid()).empty());
        for (long pid : family.workers) ::kill(pid_t(pid), SIGKILL);  // after a failure only
    }
};
INSTANTIATE_TEST_SUITE_P(By, Orphans, ::testing::Values(Way::fork, Way::exec), name_of);
class OrphansOfAForkServer : public Orphans {};
INSTANTIATE_TEST_SUITE_P(By, OrphansOfAForkServer, ::testing::Values(Way::fork), name_of);

TEST_P(Orphans, NoneAfterSigkillOfTheSupervisor) {
    const Family family = start_family(GetParam(), 4);
    ::kill(pid_t(family.supervisor), SIGKILL);
    expect_all_gone(family);
}

TEST_P(Orphans, NoneAfterSigkillOfTheSupervisorWhileAWorkerIsStopped) {
    const Family family = start_family(GetParam(), 3, Besides::hang);
    ::kill(pid_t(family.supervisor), SIGKILL);
    expect_all_gone(family);
}

TEST_P(OrphansOfAForkServer, NoneAfterSigkillOfSupervisorAndForkServer) {
    const Family family = start_family(GetParam(), 4);
    ::kill(pid_t(family.fork_server), SIGKILL);
    ::kill(pid_t(family.supervisor), SIGKILL);
    expect_all_gone(family);
}

// A program may fork for its own purposes: such a copy holds every descriptor, lifelines among
// them.
TEST_P(Orphans, NoneAfterSigkillOfASupervisorThatHasACopy) {
    const Family family = start_family(GetParam(), 3, Besides::copy);
    ::kill(pid_t(family.supervisor), SIGKILL);
    EXPECT_TRUE(comes_true([&] { return all_gone(family); }));
    EXPECT_TRUE(runs(family.copy)) << "or nothing was held";
    ::kill(pid_t(family.copy), SIGKILL);
    EXPECT_EQ(::waitpid(pid_t(family.copy), nullptr, 0), family.copy);
    expect_all_gone(family);
}

// The fork server hears of deaths that it cannot report any more; held up, of all of them and of
// the end of its lifeline at once.
TEST_P(Orphans, NoneWhereWorkersDieTogetherWithTheSupervisor) {
    for (const bool held_up : {false, true})
        for (std::ptrdiff_t before = 0; before <= 3; ++before) {
            SCOPED_TRACE(std::to_string(before) + " of 3 workers die before the supervisor");
            if (held_up && GetParam() != Way::fork) continue;
            const Family family =
                start_family(GetParam(), 6, before == 1 ? Besides::hang : Besides::nothing);
            if (held_up) {
                ::kill(pid_t(family.fork_server), SIGSTOP);
                ASSERT_TRUE(comes_true([&] { return process_state(family.fork_server) == 'T'; }));
            }
            std::vector<long> dying(family.workers.end() - 3, family.workers.end());
            dying.insert(dying.begin() + before, family.supervisor);
            for (const long pid : dying) ::kill(pid_t(pid), SIGKILL);
            if (held_up) ::kill(pid_t(family.fork_server), SIGCONT);
            expect_all_gone(family);
        }
}

TEST_P(OrphansOfAForkServer, TheForkServersDeathTakesTheWorkersWhichAreNotTheSupervisorsToReap) {
    const Family family = start_family(GetParam(), 4);
    ::kill(pid_t(family.fork_server), SIGKILL);
    EXPECT_TRUE(comes_true([&] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
        for (long pid : family.workers) {
            if (process_state(pid) != 0) return false;
        }
        return true;
    }));
    EXPECT_TRUE(runs(family.supervisor));
    ::kill(pid_t(family.supervisor), SIGINT);
    expect_all_gone(family);
}

TEST_P(Orphans, AWorkersDeathLeavesTheOthersAlone) {
    const Family family = start_family(GetParam(), 3);
    ::kill(pid_t(family.workers[1]), SIGKILL);
    EXPECT_TRUE(comes_true([&] { return process_state(family.workers[1]) == 0; })) << "not reaped";
    EXPECT_TRUE(runs(family.workers[0]));
    EXPECT_TRUE(runs(family.workers[2]));
    ::kill(pid_t(family.supervisor), SIGTERM);
    expect_all_gone(family);
}

TEST_P(Orphans, CtrlCReachesTheSupervisorAloneAndAllEnd) {
    const Family family = start_family(GetParam(), 3);
    for (long worker : family.workers) {
        EXPECT_NE(::getpgid(pid_t(worker)), ::getpgid(pid_t(family.supervisor)));
    }
    ::kill(pid_t(family.supervisor), SIGINT);
    expect_all_gone(family);
}

}  // namespace
}  // namespace assay::cluster
