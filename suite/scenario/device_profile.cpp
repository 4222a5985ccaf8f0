// Device and cluster profiles: the table of their numbers, TOML read and written, JSON, and which
// file a name stands for.
#include "suite/scenario/device_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"
#include "suite/scenario/sourced_toml.hpp"

namespace assay {

std::span<const ProfileField<DeviceProfile>> device_fields() {
    using enum ProfileRange;
    using P = DeviceProfile;
    static constexpr ProfileField<P> fields[] = {
        {"matmul_flops", "FLOP/s", &P::matmul_flops, positive},
        {"matmul_efficiency", "", &P::matmul_efficiency, share},
        {"memory_bytes", "bytes", &P::memory_bytes, positive},
        {"memory_bandwidth", "bytes/s", &P::memory_bandwidth, positive},
        {"memory_efficiency", "", &P::memory_efficiency, share},
        {"launch_s", "s", &P::launch_s, at_least_0},
    };
    return fields;
}

std::span<const ProfileField<OperationProfile>> operation_fields() {
    using enum ProfileRange;
    using P = OperationProfile;
    static constexpr ProfileField<P> fields[] = {
        {"efficiency", "", &P::efficiency, share},
        {"launch_s", "s", &P::launch_s, at_least_0},
    };
    return fields;
}

std::span<const ProfileField<ClusterProfile>> cluster_fields() {
    using enum ProfileRange;
    using P = ClusterProfile;
    static constexpr ProfileField<P> fields[] = {
        {"link_bandwidth", "bytes/s", &P::link_bandwidth, positive},
        {"link_efficiency", "", &P::link_efficiency, share},
        {"link_latency_s", "s", &P::link_latency_s, at_least_0},
        {"storage_bandwidth", "bytes/s", &P::storage_bandwidth, positive},
        {"detect_s", "s", &P::detect_s, positive},
        {"regroup_s", "s", &P::regroup_s, positive},
        {"relaunch_s", "s", &P::relaunch_s, positive},
    };
    return fields;
}

namespace {

using Table = ProfileTable;

std::string read_id(Table& file) {
    std::string id = file.required_text("id");
    const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!plain) file.fail("id", "may hold a to z, 0 to 9, '-' and '_' only");
    return id;
}

std::optional<AttentionCapability> read_attention(Table& file) {
    std::optional<Table> table = file.table("attention");
    if (!table) return std::nullopt;
    AttentionCapability capability;
    const std::string value = table->required_text("value");
    const auto known = of_word<AttentionKernels>(value);
    if (!known)
        table->fail("value", "is '" + value + "'; known are " + words_of<AttentionKernels>());
    capability.kernels = *known;
    capability.kind = table->required_text("kind");
    if (capability.kind != "published" && capability.kind != "measured" &&
        capability.kind != "assumed")
        table->fail("kind", "is '" + capability.kind + "'; known are published, measured, assumed");
    capability.source = table->required_text("source");
    table->refuse_rest();
    return capability;
}

void read_operations(Table& file, DeviceProfile& device) {
    std::optional<Table> operations = file.table("operation");
    if (!operations) return;
    for (const std::string& name : operations->rest()) {
        Table operation = *operations->table(name);
        read_numbers(operation, device.operations[name], operation_fields());
        operation.refuse_rest();
    }
}

template <class Profile>
nlohmann::json named_numbers_json(const Profile& profile,
                                  std::span<const ProfileField<Profile>> fields) {
    nlohmann::json object = numbers_json(profile, fields);
    object["id"] = profile.id;
    object["says"] = profile.says;
    return object;
}

}  // namespace

DeviceProfile read_device_profile(std::string_view toml, std::string_view file_name) {
    const toml::table document = parse_toml<ProfileError>(toml, file_name);
    Table file(document, std::string(file_name), "device profile");
    DeviceProfile profile;
    profile.id = read_id(file);
    profile.says = file.required_text("says");
    read_numbers(file, profile, device_fields());
    profile.attention = read_attention(file);
    read_operations(file, profile);
    file.refuse_rest();
    return profile;
}

ClusterProfile read_cluster_profile(std::string_view toml, std::string_view file_name) {
    const toml::table document = parse_toml<ProfileError>(toml, file_name);
    Table file(document, std::string(file_name), "cluster profile");
    ClusterProfile profile;
    profile.id = read_id(file);
    profile.says = file.required_text("says");
    profile.devices = file.texts("devices");
    if (profile.devices.empty()) file.fail("devices", "must name at least one device profile");
    if (std::count(profile.devices.begin(), profile.devices.end(), "") > 0)
        file.fail("devices", "must not hold an empty name");
    read_numbers(file, profile, cluster_fields());
    profile.network = read_network_shape(file);
    file.refuse_rest();
    return profile;
}

std::string to_toml(const DeviceProfile& profile) {
    std::string text =
        fmt::format("id = {}\nsays = {}\n", toml_quoted(profile.id), toml_quoted(profile.says));
    text += numbers_toml(profile, device_fields());
    if (profile.attention)
        text += fmt::format(
            "\n[attention]  # fused or materialised\nvalue = {}\nkind = {}\n"
            "source = {}\n",
            toml_quoted(std::string(to_string(profile.attention->kernels))),
            toml_quoted(profile.attention->kind), toml_quoted(profile.attention->source));
    for (const auto& [name, operation] : profile.operations)
        text += numbers_toml(operation, operation_fields(), "operation." + toml_quoted(name) + ".");
    return text;
}

std::string to_toml(const ClusterProfile& profile) {
    return fmt::format("id = {}\nsays = {}\ndevices = {}\n", toml_quoted(profile.id),
                       toml_quoted(profile.says), toml_quoted(profile.devices)) +
           numbers_toml(profile, cluster_fields()) +
           (profile.network ? to_toml(*profile.network) : "");
}

nlohmann::json to_json(const DeviceProfile& profile) {
    nlohmann::json object = named_numbers_json(profile, device_fields());
    if (profile.attention)
        object["attention"] = {{"value", to_string(profile.attention->kernels)},
                               {"kind", profile.attention->kind},
                               {"source", profile.attention->source}};
    for (const auto& [name, operation] : profile.operations)
        object["operations"][name] = numbers_json(operation, operation_fields());
    return object;
}

nlohmann::json to_json(const ClusterProfile& profile) {
    nlohmann::json object = named_numbers_json(profile, cluster_fields());
    object["devices"] = profile.devices;
    // Left out where there is none: hashes of older calibrations stay what they are.
    if (profile.network) object["network"] = to_json(*profile.network);
    return object;
}

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
