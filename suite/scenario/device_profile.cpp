// Device and cluster profiles from TOML, and as TOML and JSON.
#include "suite/scenario/device_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "suite/experiment/strict_toml.hpp"
#include "suite/scenario/profile_fields.hpp"

namespace assay {
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

}  // namespace assay
