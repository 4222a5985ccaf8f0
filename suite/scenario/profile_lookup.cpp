// Which file a profile's name stands for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "suite/data/catalog.hpp"
#include "suite/experiment/datasets.hpp"
#include "suite/experiment/nearest_id.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay {
namespace fs = std::filesystem;
namespace {

constexpr const char* this_machine = "this-machine";

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf()))
        throw UserError(file.string() + ":1:1: cannot be read, or is empty");
    return text.str();
}

bool names_a_file(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".toml");
}

/// Ids of the shipped profiles of one kind, by name.
std::vector<std::string> shipped(const fs::path& folder) {
    std::vector<std::string> ids;
    std::error_code missing;  // no folder, no profiles
    for (const auto& entry : fs::directory_iterator(folder, missing))
        if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
    std::sort(ids.begin(), ids.end());
    return ids;
}

/// `what`: "device" or "cluster"; its files lie in the folder of that name with an s.
fs::path profile_file(const std::string& name, const std::string& what) {
    if (names_a_file(name)) return name;
    std::error_code missing;
    if (name == this_machine) {
        fs::path file = data::folder() / (what + "s") / (name + ".toml");
        if (fs::is_regular_file(file, missing)) return file;
        throw UserError(fmt::format(
            "there is no {} profile of this machine yet ({}): `assay calibrate machine` measures "
            "one",
            what, file.string()));
    }
    const fs::path folder = datasets_dir() / (what + "s");
    std::vector<std::string> ids = shipped(folder);
    if (std::find(ids.begin(), ids.end(), name) != ids.end()) return folder / (name + ".toml");
    ids.emplace_back(this_machine);
    const auto nearest = nearest_id(name, ids);
    throw UserError(fmt::format(
        "no {} profile '{}'; {}there are: {}; or name a file that ends in .toml", what, name,
        nearest ? fmt::format("did you mean '{}'? ", *nearest) : "", fmt::join(ids, ", ")));
}

}  // namespace

fs::path this_machine_device_file() { return data::folder() / "devices" / "this-machine.toml"; }

fs::path this_machine_cluster_file() { return data::folder() / "clusters" / "this-machine.toml"; }

DeviceProfile device_profile(const std::string& id_or_file) {
    const fs::path file = profile_file(id_or_file, "device");
    return read_device_profile(contents(file), file.string());
}

ClusterProfile cluster_profile(const std::string& id_or_file) {
    const fs::path file = profile_file(id_or_file, "cluster");
    return read_cluster_profile(contents(file), file.string());
}

}  // namespace assay
