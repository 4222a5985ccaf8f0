// Who uses the processors: two looks at every process's times.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "suite/measure/hardware/machine_state.hpp"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

struct Times {
    std::string name;
    double busy_s = 0;
};

/// "42 (a name (with) anything) S ppid … utime stime …": the name ends at the last parenthesis,
/// and the times are the 12th and 13th field after it.
std::optional<Times> times_in(const fs::path& file) {
    std::ifstream in(file);
    std::string text;
    std::getline(in, text, '\0');  // a process may end meanwhile: then reading fails
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return std::nullopt;
    std::istringstream fields(text.substr(close + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    if (!(fields >> user >> system)) return std::nullopt;
    return Times{text.substr(open + 1, close - open - 1),
                 (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

std::map<pid_t, Times> all_times(const fs::path& root) {
    std::map<pid_t, Times> all;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root / "proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.empty() || name.size() > 9 ||
            name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        const pid_t pid = static_cast<pid_t>(std::stol(name));
        if (pid == ::getpid()) continue;
        if (auto times = times_in(entry.path() / "stat")) all.emplace(pid, std::move(*times));
    }
    return all;
}

}  // namespace

std::vector<BusyProcess> busy_processes(const fs::path& root, double look_s, double least_cores) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto before = all_times(root);
    std::this_thread::sleep_for(std::chrono::duration<double>(look_s));
    const auto after = all_times(root);
    const double passed_s = std::chrono::duration<double>(Clock::now() - start).count();
    std::vector<BusyProcess> busy;
    for (const auto& [pid, times] : after) {
        const auto earlier = before.find(pid);
        if (earlier == before.end()) continue;
        const double cores = (times.busy_s - earlier->second.busy_s) / passed_s;
        if (cores >= least_cores) busy.push_back({pid, times.name, cores});
    }
    std::sort(busy.begin(), busy.end(),
              [](const BusyProcess& a, const BusyProcess& b) { return a.cores > b.cores; });
    return busy;
}

}  // namespace assay::measure
