#include "suite/cluster/cgroup_place.hpp"

#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

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

}  // namespace assay::cluster
