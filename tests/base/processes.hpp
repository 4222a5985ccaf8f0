// What tests ask about other processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace assay::testing {

/// Neither running nor waiting to be reaped by us; a zombie of another parent counts as gone.
inline bool is_gone(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string id, name, state;
    // The name is in parentheses and has no spaces in these tests.
    return !(status >> id >> name >> state) || state == "Z" || state == "X";
}

inline std::set<pid_t> pids_in(const std::filesystem::path& file) {
    std::set<pid_t> pids;
    std::ifstream in(file);
    pid_t pid = 0;
    while (in >> pid) pids.insert(pid);
    return pids;
}

/// Children and theirs in turn, of a process whose children come from its first thread. The kernel
/// may leave out one whose neighbour in the list ends meanwhile.
inline std::set<pid_t> descendants_of(pid_t pid) {
    const std::string id = std::to_string(pid);
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    std::set<pid_t> result;
    for (pid_t child = 0; children >> child;) {
        result.insert(child);
        result.merge(descendants_of(child));
    }
    return result;
}

/// Waits, with a bound that only a failure reaches: a machine may write to its disk for half a
/// minute.
template <typename Condition>
bool eventually(Condition&& condition, std::chrono::seconds bound = std::chrono::seconds(60)) {
    const auto deadline = std::chrono::steady_clock::now() + bound;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace assay::testing
