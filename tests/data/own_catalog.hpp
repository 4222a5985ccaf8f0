// A small catalogue of the tests' own, and an empty data folder for each test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"

namespace assay::data {

/// The content of entry "trace" of the tests' catalogue.
inline constexpr const char* right_trace = "0,add,a\n5,remove,a\n";

/// The content of entry "loads", which the converter "logs" makes of a folder.
inline constexpr const char* right_loads = "iteration,layer,e0,e1\n1,0,20,12\n";

/// What a system would declare: takes any loads.
inline const DataFormats own_formats{{"expert_loads", [](std::istream&) {}}};

void write_file(const std::filesystem::path& file, const std::string& bytes);
std::string read_file(const std::filesystem::path& file);

class OwnCatalog : public testing::Test {
  protected:
    void SetUp() override;     ///< ASSAY_DATA names a folder that does not exist yet
    void TearDown() override;  ///< removes everything

    /// Names of everything in the data folder, sorted.
    std::vector<std::string> data_files() const;

    std::filesystem::path root_;  ///< for the test's own files
    std::filesystem::path data_;  ///< root_/data
};

}  // namespace assay::data
