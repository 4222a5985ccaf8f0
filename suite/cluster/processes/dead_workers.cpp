#include "suite/cluster/processes/dead_workers.hpp"

#include <signal.h>
#include <sys/wait.h>

#include "suite/cluster/processes/supervisor_loop.hpp"

namespace assay::cluster {
namespace {

/// How long a death waits for its exit status before it is reported without one.
constexpr Seconds kExitStatusWait{1.0};

}  // namespace

ExitStatus to_exit_status(int wait_status) {
    if (WIFSIGNALED(wait_status)) return {.code = std::nullopt, .signal = WTERMSIG(wait_status)};
    return {.code = WEXITSTATUS(wait_status)};
}

// In the supervisor's process.

std::optional<ExitStatus> reap_child(Process& child) noexcept {
    if (!child.running()) return std::nullopt;
    siginfo_t info{};
    int waited;
    do {
        waited = ::waitid(P_PIDFD, child.pidfd(), &info, WEXITED | WNOWAIT);
    } while (waited != 0 && errno == EINTR);
    try {
        if (waited == 0) {
            // While it is not reaped, its process group's number cannot be anybody else's.
            child.kill_group();
            return child.wait();
        }
    } catch (const std::system_error&) {
        // Taken between the two calls.
    }
    child.disown();
    return std::nullopt;
}

// In the fork server.

std::vector<EndedChild> reap_ended_children() {
    std::vector<EndedChild> reaped;
    while (true) {
        siginfo_t info{};
        if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return reaped;
        // Whatever the worker itself started goes with it. While the worker is not reaped, its
        // process group's number cannot be anybody else's.
        kill_worker_group(info.si_pid);
        int status = 0;
        ::waitpid(info.si_pid, &status, 0);
        reaped.push_back({info.si_pid, status});
    }
}

void kill_worker_group(pid_t worker) {
    ::kill(-worker, SIGKILL);
    ::kill(worker, SIGKILL);  // in case it has not made its group yet
}

// In the supervisor.

void Supervisor::Impl::terminate(WorkerId id, std::string verdict) {
    SupervisedWorker& worker = *workers[id];
    monitor.forget(id);
    if (worker.state != SupervisedWorker::State::live) return;
    worker.verdict = std::move(verdict);
    worker.detected_s = now_s();
    kill(id);
}

void Supervisor::Impl::signal(WorkerId id, int signal_number) {
    const SupervisedWorker& worker = at(id);
    worker.launcher->signal(worker.launched, signal_number);
}

void Supervisor::Impl::kill(WorkerId id) {
    signal(id, SIGKILL);
    slowing.killed(id);
}

void Supervisor::Impl::notice_death(WorkerId id) {
    SupervisedWorker& worker = *workers[id];
    worker.state = SupervisedWorker::State::ending;
    if (worker.verdict.empty()) worker.detected_s = now_s();
    monitor.forget(id);
    resumes.erase(id);
    slowing.gone(id);
    ended_at_s[id] = now_s();
    while (worker.connection.open()) {  // its last words
        const std::size_t before = events.size();
        read(id);
        if (events.size() == before) break;
    }
}

void Supervisor::Impl::report_death(WorkerId id) {
    SupervisedWorker& worker = *workers[id];
    std::string how = worker.launcher->exit_status(id);
    if (how.empty()) {
        if (now_s() - ended_at_s[id] < kExitStatusWait.count()) return;
        how = "gone, exit status unknown";
    }
    if (!worker.verdict.empty()) {
        how = worker.verdict;
    } else if (!worker.failure.empty()) {
        how += ": " + worker.failure;
    }
    worker.state = SupervisedWorker::State::dead;
    worker.connection = WorkerConnection();
    worker.launched.death.reset();
    ended_at_s.erase(id);
    events.push_back(WorkerDied{id, std::move(how), worker.detected_s});
}

}  // namespace assay::cluster
