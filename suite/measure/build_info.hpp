// What this program was built from, by what, and with which optional parts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::measure {

/// An optional part of the build.
struct BuildPart {
    enum class State {
        built_in,  ///< found, and something in this program uses it
        unused,    ///< found, but nothing in this version uses it yet
        absent,    ///< not found when the build was configured
    };
    std::string name;  ///< "torch", "gloo", "benchmark", "cuda", "simgrid", "qt"
    State state = State::absent;
    std::string
        says;  ///< one sentence: what it brings, or what is missing without it and how to mend it
};

struct BuildInfo {
    std::string version;  ///< of the project, "0.1.0"
    std::string
        commit;  ///< git, 12 digits, "-dirty" appended for a changed tree; empty without git
    std::string compiler;    ///< "GNU 12.2.0"
    std::string build_type;  ///< "Release"
    std::string flags;       ///< of the compiler
    std::string torch;       ///< version of libtorch; empty when absent
    std::vector<BuildPart> parts;
};

BuildInfo build_info();

/// Names the running program: 40 hex digits that change when its code changes (the linker's build
/// id). Shared libraries are not part of it, unless the program names their build ids. Throws
/// std::runtime_error when the program was linked without a build id.
std::string build_id();

/// The build id of a program or a shared library; empty: it has none, or is no such file.
std::string build_id_of(const std::filesystem::path& file);

}  // namespace assay::measure
