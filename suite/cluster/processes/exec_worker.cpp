#include "suite/cluster/processes/exec_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/cluster/processes/local_worker.hpp"

namespace assay::cluster {
namespace {

bool is_of_type(int fd, mode_t type) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

extern "C" void assay_kill_own_group(int) {
    ::kill(::getpgrp() == ::getpid() ? 0 : ::getpid(), SIGKILL);
}

/// Makes the end of the launcher's process the end of this one and of all that it has started. In
/// two ways, because neither is enough. The lifeline stays open where that process has forked
/// copies of itself. The signal of its thread's death comes before its descriptors are closed: left
/// at SIGKILL, as the launcher sets it, it would end this process alone, and the lifeline, when it
/// closes, would have nobody left to reach the group by.
void end_with_launcher() {
    struct sigaction action {};
    action.sa_handler = assay_kill_own_group;
    ::sigaction(SIGRTMAX, &action, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGRTMAX);
    end_with_lifeline(kExecLifelineFd);
}

int run_named(const std::function<const WorkerMain&(const std::string& name)>& find) {
    if (!is_of_type(kExecChannelFd, S_IFSOCK) || !is_of_type(kExecConfigFd, S_IFREG) ||
        !is_of_type(kExecLifelineFd, S_IFIFO))
        throw UserError(
            "this program is a worker: a supervisor starts it, by make_exec_launcher()");
    for (const int fd : {kExecChannelFd, kExecConfigFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    end_with_launcher();
    FileDescriptor channel(kExecChannelFd), file(kExecConfigFd);
    const nlohmann::json given = read_config(file);
    file.reset();
    const WorkerId worker = given.at("worker");
    return run_worker(worker, std::move(channel), [&](ControlChannel& control) {
        return find(given.at("name"))(worker, control, given.at("config"));
    });
}

}  // namespace

int run_exec_worker(const WorkerProgram& program) {
    return run_named([&](const std::string& name) -> const WorkerMain& {
        const auto found = program.find(name);
        if (found != program.end()) return found->second;
        std::vector<std::string> names;
        for (const auto& [known, worker_main] : program) names.push_back(known);
        throw std::runtime_error(fmt::format("there is no worker '{}' in this program, only: {}",
                                             name, fmt::join(names, ", ")));
    });
}

int run_exec_worker(const WorkerMain& worker_main) {
    return run_named([&](const std::string&) -> const WorkerMain& { return worker_main; });
}

}  // namespace assay::cluster
