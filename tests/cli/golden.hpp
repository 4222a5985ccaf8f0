// Compares output with a file in tests/golden. ASSAY_UPDATE_GOLDEN=1 writes the files anew; look at
// the difference before keeping it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "tests/cli/program.hpp"

namespace assay::testing {

/// What differs from run to run: ids, paths of the test's folder.
inline std::string masked(std::string text, const std::filesystem::path& folder) {
    static const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    text = std::regex_replace(text, uuid, "UUID");
    static const std::regex started("\"started\": \"[^\"]*\"");
    text = std::regex_replace(text, started, "\"started\": \"TIME\"");
    static const std::regex seconds("\"(seconds|taken_s)\": [-+.0-9e]+");
    text = std::regex_replace(text, seconds, "\"$1\": SECONDS");
    static const std::regex prefix("assay replay [0-9a-f]+");
    text = std::regex_replace(text, prefix, "assay replay PREFIX");
    for (std::size_t at; (at = text.find(folder.string())) != std::string::npos;)
        text.replace(at, folder.string().size(), "FOLDER");
    return text;
}

inline void expect_golden(const std::string& name, const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(ASSAY_GOLDEN_FOLDER) / name;
    if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(file, std::ios::binary) << text;
        return;
    }
    ASSERT_TRUE(std::filesystem::exists(file)) << file << " is missing";
    EXPECT_EQ(text, contents(file)) << "differs from " << file;
}

}  // namespace assay::testing
