#include "suite/runner/sample/leftover_processes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace assay::runner {
namespace {

// Of this process.
int living = 0;
bool was_subreaper = false;
std::set<pid_t> leaders;  // of samples that run

}  // namespace

std::set<pid_t> children_of(pid_t pid) {
    std::set<pid_t> result;
    std::error_code error;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
        std::ifstream list(task.path() / "children");
        pid_t child = 0;
        while (list >> child) result.insert(child);
    }
    return result;
}

LeftoverProcesses::LeftoverProcesses() : others_(children_of(::getpid())) {
    if (living++ > 0) return;
    int flag = 0;
    ::prctl(PR_GET_CHILD_SUBREAPER, &flag);
    was_subreaper = flag != 0;
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

LeftoverProcesses::~LeftoverProcesses() {
    leaders.erase(leader_);
    if (--living == 0 && !was_subreaper) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void LeftoverProcesses::belongs(pid_t leader) {
    leader_ = leader;
    leaders.insert(leader);
}

int LeftoverProcesses::reap() {
    leaders.erase(leader_);
    std::set<pid_t> seen;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < deadline) {
        bool any = false;
        for (const pid_t pid : children_of(::getpid())) {
            if (others_.count(pid) != 0 || leaders.count(::getpgid(pid)) != 0) continue;
            any = true;
            seen.insert(pid);
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, WNOHANG);
        }
        if (!any) break;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return static_cast<int>(seen.size());
}

}  // namespace assay::runner
