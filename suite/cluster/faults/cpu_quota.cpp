#include "suite/cluster/faults/cpu_quota.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "suite/base/file_descriptor.hpp"

namespace assay::cluster {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

bool lists(const std::string& text, const std::string& word) {
    for (const auto& part : split(text, ','))
        if (part == word) return true;
    return false;
}

struct Mount {
    CgroupVersion version;
    std::string shown;  ///< the part of the hierarchy that the mount shows: "/" is all of it
    std::string point;
};

// "36 31 0:33 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct"; before the
// dash stands any number of optional fields.
std::optional<Mount> cpu_mount(const std::string& line) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) return std::nullopt;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) return std::nullopt;
    if (after[0] == "cgroup2") return Mount{CgroupVersion::v2, before[3], before[4]};
    if (after[0] == "cgroup" && lists(after[2], "cpu"))
        return Mount{CgroupVersion::v1, before[3], before[4]};
    return std::nullopt;
}

// Our group within the whole hierarchy: "4:cpu,cpuacct:/a/b" (version 1), "0::/a/b" (version 2).
std::optional<std::string> own_group(const fs::path& file, CgroupVersion version) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (version == CgroupVersion::v1 ? lists(controllers, "cpu") : controllers.empty())
            return line.substr(second + 1);
    }
    return std::nullopt;
}

// Where a mount shows our group. A container may see only a part of the hierarchy, and we may stand
// outside of it.
std::optional<std::string> below_mount(const Mount& mount, const std::string& group) {
    if (group.find("/..") != std::string::npos) return std::nullopt;
    if (mount.shown == "/") return group;
    if (group == mount.shown) return "/";
    if (group.rfind(mount.shown + "/", 0) == 0) return group.substr(mount.shown.size());
    return std::nullopt;
}

}  // namespace

CgroupPlace find_cpu_cgroup(const fs::path& root) {
    std::optional<CgroupPlace> found;
    std::ifstream mounts(root / "proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        const auto mount = cpu_mount(line);
        if (!mount) continue;
        const auto group = own_group(root / "proc/self/cgroup", mount->version);
        const auto below = group ? below_mount(*mount, *group) : std::nullopt;
        if (!below) continue;
        const auto directory =
            (root / fs::path(mount->point + *below).relative_path()).lexically_normal();
        if (!fs::is_directory(directory)) continue;
        if (mount->version == CgroupVersion::v1) return {CgroupVersion::v1, directory};
        // Only until a hierarchy of version 1 turns up that has the controller.
        if (!found) found = CgroupPlace{CgroupVersion::v2, directory};
    }
    if (!found)
        throw std::runtime_error(
            "no control group for processor time is mounted that shows the "
            "group of this process");
    return *found;
}

// Groups with a quota.

namespace {

constexpr std::string_view kPrefix = "assay-slow-";
constexpr double kLeastQuota_s = 0.001;  ///< the kernel's (min_cfs_quota_period)
constexpr double kLeastPeriod_s = 0.004;
/// How long a group may count a process that is gone.
constexpr int kRemovals = 20;
constexpr useconds_t kRemovalWait_us = 1000;

/// errno, or 0. Control groups know their files; in a tree of plain ones (tests) they come about.
int try_write(const fs::path& file, const std::string& text) {
    const FileDescriptor fd(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd) return errno;
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? 0 : (written < 0 ? errno : EIO);
}

void write_or_throw(const fs::path& file, const std::string& text) {
    if (const int error = try_write(file, text); error != 0)
        throw std::runtime_error(fmt::format("{} does not take '{}': {}", file.string(), text,
                                             std::generic_category().message(error)));
}

std::vector<std::string> words_in(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istream_iterator<std::string>(stream), {}};
}

/// Processes, or where those cannot be listed (a threaded group of version 2) their threads.
std::vector<std::string> members_of(const fs::path& group) {
    auto members = words_in(group / "cgroup.procs");
    return members.empty() ? words_in(group / "cgroup.threads") : members;
}

void write_quota(CgroupVersion version, const fs::path& group, double processors) {
    const double period_s = CpuQuota::period_s(processors);
    const auto period_us = std::lround(1e6 * period_s);
    const auto quota_us =
        std::max(std::lround(1e6 * kLeastQuota_s), std::lround(1e6 * period_s * processors));
    if (version == CgroupVersion::v2)
        return write_or_throw(group / "cpu.max", fmt::format("{} {}", quota_us, period_us));
    write_or_throw(group / "cpu.cfs_period_us", std::to_string(period_us));
    write_or_throw(group / "cpu.cfs_quota_us", std::to_string(quota_us));
}

bool remove_group(const fs::path& group) {
    if (::rmdir(group.c_str()) == 0 || errno == ENOENT) return true;
    if (errno != ENOTEMPTY) return false;
    // The files of a control group go with it; in a tree of plain files ours go first.
    for (const char* file :
         {"cgroup.procs", "cgroup.type", "cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.max"})
        ::unlink((group / file).c_str());
    return ::rmdir(group.c_str()) == 0;
}

/// The owner in the name of a group made here; empty for any other name.
std::optional<long> owner_in(std::string_view name) {
    if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    long owner = 0, process = 0;
    const char* end = name.data() + name.size();
    const auto first = std::from_chars(name.data(), end, owner);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, process);
    if (second.ec != std::errc() || second.ptr != end || owner <= 0 || process < 0)
        return std::nullopt;
    return owner;
}

/// Groups made here by whomever.
std::vector<std::pair<fs::path, long>> groups_in(const fs::path& directory) {
    std::vector<std::pair<fs::path, long>> groups;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (const auto owner = owner_in(entry->path().filename().string()))
            groups.emplace_back(entry->path(), *owner);
    }
    return groups;
}

}  // namespace

// One limit.

void CpuLimit::lift() noexcept {
    if (group_.empty()) return;
    if (version_ == CgroupVersion::v2)
        try_write(group_ / "cpu.max", "max");
    else
        try_write(group_ / "cpu.cfs_quota_us", "-1");
}

CpuLimit::~CpuLimit() {
    if (group_.empty()) return;
    lift();
    for (const auto& member : members_of(group_))
        try_write(group_.parent_path() / "cgroup.procs", member);
    for (int removal = 0; !remove_group(group_) && removal < kRemovals; ++removal)
        ::usleep(kRemovalWait_us);
}

// Where limits come from.

CpuQuota::CpuQuota(fs::path root) : root_(std::move(root)) {
    try {
        place_ = find_cpu_cgroup(root_);
        sweep();
    } catch (const std::exception& error) {
        missing_ = error.what();
    }
}

CpuQuota::~CpuQuota() {
    // Taken back, the controller takes every quota with it: not from somebody else's.
    if (gave_controller_ && groups_in(place_.directory).empty())
        try_write(place_.directory / "cgroup.subtree_control", "-cpu");
}

void CpuQuota::sweep() const {
    for (const auto& [group, owner] : groups_in(place_.directory)) {
        // A group that still holds a process stays: the kernel refuses.
        if (owner != ::getpid() && !fs::exists(root_ / "proc" / std::to_string(owner)))
            remove_group(group);
    }
}

std::string CpuQuota::why_not() {
    try {
        make_group(0, 0.5);
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

void CpuQuota::give_controller() {
    const auto file = place_.directory / "cgroup.subtree_control";
    const auto given = words_in(file);
    if (gave_controller_ || std::find(given.begin(), given.end(), "cpu") != given.end()) return;
    write_or_throw(file, "+cpu");
    gave_controller_ = true;
}

CpuLimit CpuQuota::make_group(long pid, double processors) {
    if (!missing_.empty()) throw std::runtime_error(missing_);
    if (place_.version == CgroupVersion::v2) give_controller();
    const auto group = place_.directory / fmt::format("{}{}-{}", kPrefix, ::getpid(), pid);
    if (::mkdir(group.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        throw std::runtime_error(fmt::format("{} cannot be made: {}", group.string(),
                                             std::generic_category().message(errno)));
    CpuLimit limit(place_.version, group);
    // Below a group that has processes of its own, as ours has unless it is the root, version 2
    // only takes groups that share its resources but for threaded controllers, such as cpu.
    if (words_in(group / "cgroup.type") == std::vector<std::string>{"domain", "invalid"})
        write_or_throw(group / "cgroup.type", "threaded");
    write_quota(place_.version, group, processors);
    return limit;
}

CpuLimit CpuQuota::limit(long pid, double processors) {
    if (!(processors >= 0.001))
        throw std::invalid_argument(
            fmt::format("a quota of {} processors is too small", processors));
    auto limit = make_group(pid, processors);
    const auto processes = limit.group_ / "cgroup.procs";
    if (const int error = try_write(processes, std::to_string(pid)); error != 0 && error != ESRCH)
        throw std::runtime_error(fmt::format("{} does not take process {}: {}", processes.string(),
                                             pid, std::generic_category().message(error)));
    return limit;
}

double CpuQuota::period_s(double processors) {
    return std::max(kLeastPeriod_s, kLeastQuota_s / processors);
}

}  // namespace assay::cluster
