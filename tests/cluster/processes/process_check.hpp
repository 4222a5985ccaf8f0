// What tests ask the kernel about processes.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace assay::cluster {

/// State letter of /proc/PID/stat ('R', 'S', 'T', 'Z', …); 0 when there is no such process.
inline char process_state(long pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return 0;
    const auto name_end = text.rfind(')');
    return name_end == std::string::npos ? 0 : text.at(name_end + 2);
}

/// Processor time that a process and all of its threads have used.
inline double processor_s(long pid) {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(pid_t(pid), &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
}

inline bool runs(long pid) {
    const char state = process_state(pid);
    return state != 0 && state != 'Z' && state != 'X';
}

/// All processes whose parent is `pid`, whichever of its threads started them.
inline std::vector<long> children_of(long pid) {
    std::vector<long> found;
    std::error_code gone;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
        std::ifstream children(task.path() / "children");
        for (long child; children >> child;) found.push_back(child);
    }
    return found;
}

/// Polls until `condition` or the time is up; whether it came true. The limit only bounds a
/// failure.
inline bool comes_true(const std::function<bool()>& condition, double limit_s = 20) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace assay::cluster
