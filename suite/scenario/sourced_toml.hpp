// Numbers with sources in TOML and JSON: { value = …, kind = …, source = … }. For .cpp files only.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "suite/base/strict_toml.hpp"
#include "suite/scenario/sourced.hpp"

namespace assay {

using ProfileTable = StrictTable<ProfileError>;

/// The number under `key`, which must be there.
Sourced read_sourced(ProfileTable& table, const char* key, ProfileRange range);

/// A TOML basic string; an array of them.
std::string toml_quoted(const std::string& text);
std::string toml_quoted(const std::vector<std::string>& texts);

/// As [name], with its three lines.
std::string sourced_toml(const Sourced& number, const std::string& name, const char* unit);
nlohmann::json sourced_json(const Sourced& number);

template <class Profile>
void read_numbers(ProfileTable& table, Profile& profile,
                  std::span<const ProfileField<Profile>> fields) {
    for (const auto& field : fields)
        profile.*field.number = read_sourced(table, field.key, field.range);
}

/// `of`: the table that the numbers are in, with a dot; empty: the file itself.
template <class Profile>
std::string numbers_toml(const Profile& profile, std::span<const ProfileField<Profile>> fields,
                         const std::string& of = "") {
    std::string text;
    for (const auto& field : fields)
        text += sourced_toml(profile.*field.number, of + field.key, field.unit);
    return text;
}

template <class Profile>
nlohmann::json numbers_json(const Profile& profile, std::span<const ProfileField<Profile>> fields) {
    nlohmann::json object;
    for (const auto& field : fields) object[field.key] = sourced_json(profile.*field.number);
    return object;
}

}  // namespace assay
