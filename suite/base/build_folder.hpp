// The build folder that this program runs from, and the command that builds there what it misses.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The folder that this program lies in; empty where the system does not tell.
std::filesystem::path program_folder();

/// CMake's, which has the programs in its folder bin. Empty: they were installed or copied there.
std::filesystem::path build_folder(const std::filesystem::path& programs = program_folder());

/// "`cmake --build build/cpu --target assay-gui`"; nullopt where it is no build folder, or its
/// configuration has not all of these targets.
std::optional<std::string> build_command(const std::filesystem::path& build_folder,
                                         const std::vector<std::string>& targets);

/// As a shell takes it, from the folder in use where it lies below that.
std::string shell_path(const std::filesystem::path& path);

}  // namespace assay
