// Where the tests find traces: the shipped one, and the public ones where they are at hand.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace assay::testing {

inline std::string file_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline std::filesystem::path shipped_trace() {
    return std::filesystem::path(ASSAY_TEST_DATASETS) / "traces/p3-80min.toml";
}

/// A public trace: in the folder that ASSAY_TEST_DATA names (or that of the file it names), in its
/// folder `traces`, or in the folder `traces` beside it.
inline std::optional<std::filesystem::path> public_trace(const std::string& name) {
    const char* given = std::getenv("ASSAY_TEST_DATA");
    if (!given || !*given) return std::nullopt;
    std::filesystem::path folder = given;
    if (std::filesystem::is_regular_file(folder)) folder = folder.parent_path();
    for (const auto& file : {folder / name, folder / "traces" / name, folder / "../traces" / name})
        if (std::filesystem::exists(file)) return file;
    return std::nullopt;
}

}  // namespace assay::testing
