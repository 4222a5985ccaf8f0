// Which files a folder of SmartMoE's routing logs holds, and which it should.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "suite/data/catalog.hpp"

namespace assay::data {

/// "table_iter11_rank3.log"
std::string smartmoe_file_name(std::int64_t iteration, std::size_t rank);

/// One per iteration and rank.
std::size_t smartmoe_file_count(const SmartmoeLogs& logs);

/// Throws DataError unless every log is there and no log of another iteration or rank; says which.
/// Files with other names do not matter.
void require_smartmoe_files(const std::filesystem::path& folder, const SmartmoeLogs& logs);

}  // namespace assay::data
