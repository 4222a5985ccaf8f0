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
#include "suite/base/strict_toml.hpp"
#include "suite/data/catalog.hpp"

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

using Table = StrictTable<ProfileError>;

void check_range(Table& table, double value, ProfileRange range) {
    if (range == ProfileRange::share && !(value > 0 && value <= 1))
        table.fail("value", "must be above 0 and at most 1");
    if (range == ProfileRange::positive && !(value > 0)) table.fail("value", "must be above 0");
    if (range == ProfileRange::at_least_0 && (value < 0 || std::signbit(value)))
        table.fail("value", "must be at least 0");
}

Sourced read_sourced(Table& file, const char* key, ProfileRange range) {
    std::optional<Table> table = file.table(key);
    if (!table)
        file.fail(fmt::format("{} lacks '{}': write {} = {{ value = …, kind = …, source = … }}",
                              file.name(), key, key));
    Sourced sourced;
    const std::optional<double> value = table->number("value");
    if (!value) table->fail(fmt::format("{} lacks 'value'", key));
    check_range(*table, *value, range);
    sourced.value = *value;
    sourced.kind = table->required_text("kind");
    if (sourced.kind != "published" && sourced.kind != "measured" && sourced.kind != "assumed")
        table->fail("kind", "is '" + sourced.kind + "'; known are published, measured, assumed");
    sourced.source = table->required_text("source");
    table->refuse_rest();
    return sourced;
}

std::string read_id(Table& file) {
    std::string id = file.required_text("id");
    const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!plain) file.fail("id", "may hold a to z, 0 to 9, '-' and '_' only");
    return id;
}

template <class Profile>
void read_numbers(Table& file, Profile& profile, std::span<const ProfileField<Profile>> fields) {
    for (const auto& field : fields)
        profile.*field.number = read_sourced(file, field.key, field.range);
    file.refuse_rest();
}

/// A TOML basic string: JSON's escapes are TOML's, but TOML wants one more character escaped.
std::string quoted(const std::string& text) {
    std::string escaped;
    for (const char c : nlohmann::json(text).dump()) {
        if (c == '\x7f')
            escaped += "\\u007F";
        else
            escaped += c;
    }
    return escaped;
}

template <class Profile>
std::string numbers_text(const Profile& profile, std::span<const ProfileField<Profile>> fields) {
    std::string text;
    for (const auto& field : fields) {
        const Sourced& number = profile.*field.number;
        text += fmt::format("\n[{}]  # {}\nvalue = {}\nkind = {}\nsource = {}\n", field.key,
                            *field.unit ? field.unit : "a share, 0 to 1", number.value,
                            quoted(number.kind), quoted(number.source));
    }
    return text;
}

template <class Profile>
nlohmann::json numbers_json(const Profile& profile, std::span<const ProfileField<Profile>> fields) {
    nlohmann::json object = {{"id", profile.id}, {"says", profile.says}};
    for (const auto& field : fields) {
        const Sourced& number = profile.*field.number;
        object[field.key] = {
            {"value", number.value}, {"kind", number.kind}, {"source", number.source}};
    }
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
    return profile;
}

std::string to_toml(const DeviceProfile& profile) {
    return fmt::format("id = {}\nsays = {}\n", quoted(profile.id), quoted(profile.says)) +
           numbers_text(profile, device_fields());
}

std::string to_toml(const ClusterProfile& profile) {
    std::string devices;
    for (const std::string& device : profile.devices)
        devices += (devices.empty() ? "" : ", ") + quoted(device);
    return fmt::format("id = {}\nsays = {}\ndevices = [{}]\n", quoted(profile.id),
                       quoted(profile.says), devices) +
           numbers_text(profile, cluster_fields());
}

nlohmann::json to_json(const DeviceProfile& profile) {
    return numbers_json(profile, device_fields());
}

nlohmann::json to_json(const ClusterProfile& profile) {
    nlohmann::json object = numbers_json(profile, cluster_fields());
    object["devices"] = profile.devices;
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
