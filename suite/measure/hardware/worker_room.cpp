#include "suite/measure/hardware/worker_room.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/measure/hardware/cpu_sensors.hpp"
#include "suite/measure/hardware/machine_state.hpp"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

// The least of a worker. One of the smallest training has 29 MB of its own and six threads.
constexpr double least_bytes = 24e6;
constexpr double least_tasks = 2;        ///< it works, and its heart beats
constexpr double least_descriptors = 2;  ///< of whoever starts it: its channel, and its death

/// What there is of something, and how much of it each worker takes.
struct Limit {
    double has = 0, each = 1;
    std::string says;
    double workers() const { return has / each; }
};

using Limits = std::vector<Limit>;

void add_memory(Limits& limits, std::optional<double> bytes, const std::string& says) {
    if (bytes)
        limits.push_back({*bytes, least_bytes,
                          fmt::format("{} of memory each, and {} {}", bytes_text(least_bytes), says,
                                      bytes_text(*bytes))});
}

void add_tasks(Limits& limits, std::optional<double> tasks, const std::string& says) {
    if (tasks)
        limits.push_back({*tasks, least_tasks,
                          fmt::format("{} processes or threads each, and {} {:.0f}", least_tasks,
                                      says, *tasks)});
}

/// The soft limit; nullopt: none.
std::optional<double> resource_limit(decltype(RLIMIT_NPROC) resource) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return static_cast<double>(limit.rlim_cur);
}

Limits limits_of_machine(const fs::path& root) {
    Limits limits;
    const MemoryState memory = read_memory_state(root);
    add_memory(limits, memory.available_bytes, "MemAvailable is");
    for (const char* name : {"memory.max", "memory.limit_in_bytes"})
        for (const fs::path& file : cgroup_files(root, "memory", name))
            add_memory(limits, number_in(file), file.string() + " grants");
    if (const auto open = resource_limit(RLIMIT_NOFILE))
        limits.push_back({*open, least_descriptors,
                          fmt::format("{} file descriptors each, and `ulimit -n` grants {:.0f}",
                                      least_descriptors, *open)});
    // The superuser's processes are not counted.
    if (::geteuid() != 0) add_tasks(limits, resource_limit(RLIMIT_NPROC), "`ulimit -u` grants");
    for (const char* name : {"pid_max", "threads-max"})
        add_tasks(limits, number_in(root / "proc/sys/kernel" / name),
                  fmt::format("kernel.{} is", name));
    for (const fs::path& file : cgroup_files(root, "pids", "pids.max"))
        add_tasks(limits, number_in(file), file.string() + " grants");
    return limits;
}

}  // namespace

void require_room_for_workers(std::int64_t workers, std::int64_t joining, const fs::path& root) {
    const Limits limits = limits_of_machine(root);
    const auto tightest =
        std::min_element(limits.begin(), limits.end(),
                         [](const Limit& a, const Limit& b) { return a.workers() < b.workers(); });
    if (tightest == limits.end() || static_cast<double>(workers + joining) <= tightest->workers())
        return;
    throw NotSupportedHere(fmt::format(
        "{} worker processes{} are more than this machine has room for: they need at least {}, "
        "enough for {:.0f} at most; start fewer",
        workers, joining > 0 ? fmt::format(", and {} that join,", joining) : "", tightest->says,
        std::floor(tightest->workers())));
}

}  // namespace assay::measure
