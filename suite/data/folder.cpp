// Where fetched data lies.
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "suite/data/catalog.hpp"

namespace assay::data {

namespace {

/// An environment variable, where it is set and not empty.
std::optional<std::filesystem::path> variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return std::filesystem::path(value);
}

std::filesystem::path home() {
    if (const auto home = variable("HOME")) return *home;
    if (const passwd* user = getpwuid(getuid()); user && user->pw_dir && *user->pw_dir)
        return user->pw_dir;
    throw DataError("no home folder: set ASSAY_DATA to the folder where data sets are to lie");
}

}  // namespace

std::filesystem::path folder() {
    if (const auto given = variable("ASSAY_DATA")) return *given;
    // The XDG specification has relative paths ignored.
    if (const auto xdg = variable("XDG_DATA_HOME"); xdg && xdg->is_absolute())
        return *xdg / "assay" / "data";
    return home() / ".local" / "share" / "assay" / "data";
}

std::optional<std::filesystem::path> locate(std::string_view id) {
    auto file = folder() / find(id).file;
    std::error_code ignored;  // an unreadable folder holds nothing for us
    if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
    return file;
}

std::optional<Input> input_of(std::string_view id, std::string name) {
    auto file = locate(id);
    if (!file) return std::nullopt;
    return Input{std::move(name), *std::move(file), find(id).sha256.value_or("")};
}

}  // namespace assay::data
