// The published routing trace, which is not part of the project.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "suite/data/catalog.hpp"

namespace assay::lazarus {

inline constexpr const char* published_trace_wanted =
    "needs `assay data fetch smartmoe-loads`, or ASSAY_TEST_DATA";

/// Whether it is here: fetched into the data folder, or named by ASSAY_TEST_DATA
/// (smartmoe_expert_loads.csv, or the folder that holds it), which is the data folder from then on.
inline bool find_published_trace() {
    if (data::locate("smartmoe-loads")) return true;
    const char* given = std::getenv("ASSAY_TEST_DATA");
    std::filesystem::path folder = given ? given : "";
    if (std::filesystem::is_regular_file(folder)) folder = folder.parent_path();
    if (!std::filesystem::exists(folder / "smartmoe_expert_loads.csv")) return false;
    setenv("ASSAY_DATA", folder.c_str(), 1);
    return true;
}

}  // namespace assay::lazarus
