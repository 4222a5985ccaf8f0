// Everything that the result tables of a database hold, for comparing two of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "suite/import_export/json_lines.hpp"

namespace assay::import_export::testing {

/// Every row of every table as text, sorted. Process ids are not results; an export drops them. Nor
/// is when a session arrived, which each database counts for itself.
inline std::vector<std::string> dump(const std::filesystem::path& database) {
    std::ostringstream out;
    write_json_lines(database, out);
    std::istringstream lines(out.str());
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) {
        if (const auto at = line.find("\"pid\":"); at != line.npos)
            line.erase(at, line.find(',', at) - at + 1);
        if (const auto at = line.find(",\"arrival\":"); at != line.npos)
            line.erase(at, line.find_first_of(",}", at + 1) - at);
        all.push_back(line);
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace assay::import_export::testing
