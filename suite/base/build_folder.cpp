#include "suite/base/build_folder.hpp"

#include <fstream>
#include <set>

#include "suite/base/encoding.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// CMake lists a folder for each, whatever builds: ".../suite/cli/CMakeFiles/assay.dir".
std::set<std::string> targets_of(const fs::path& build_folder) {
    std::set<std::string> targets;
    std::ifstream in(build_folder / "CMakeFiles/TargetDirectories.txt");
    for (std::string line; std::getline(in, line);)
        if (const fs::path folder(line); folder.extension() == ".dir")
            targets.insert(folder.stem().string());
    return targets;
}

}  // namespace

fs::path program_folder() {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

fs::path build_folder(const fs::path& programs) {
    std::error_code ignored;
    const fs::path above = programs.parent_path();
    return programs.filename() == "bin" && fs::exists(above / "CMakeCache.txt", ignored)
               ? above
               : fs::path();
}

std::optional<std::string> build_command(const fs::path& build_folder,
                                         const std::vector<std::string>& targets) {
    const std::set<std::string> known = targets_of(build_folder);
    std::string command = "cmake --build " + shell_path(build_folder) + " --target";
    for (const std::string& target : targets) {
        if (!known.contains(target)) return std::nullopt;
        command += ' ' + target;
    }
    return '`' + command + '`';
}

std::string shell_path(const fs::path& path) {
    std::error_code error;
    const fs::path below = path.lexically_relative(fs::current_path(error));
    const bool lies_below = !error && !below.empty() && *below.begin() != "..";
    return shell_quoted((lies_below ? below : path).string());
}

}  // namespace assay
