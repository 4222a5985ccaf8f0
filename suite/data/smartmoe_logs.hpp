// Sums a folder of SmartMoE's routing logs into the table of expert loads that experiments read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>

#include "suite/data/catalog.hpp"

namespace assay::data {

/// Hears after every file how many of all have been read.
using FileProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Writes CSV, `iteration,layer,e0,e1,…`, ascending: for every iteration and layer the tokens of
/// each expert, summed over ranks and micro-batches. One file is held at a time. Whether `out` took
/// it all is for the caller to check. Throws DataError that names the folder, or file and line: a
/// file that is missing or too many, a layer that is missing or there twice, a line that
/// parse_smartmoe_line() refuses.
void sum_smartmoe_logs(const std::filesystem::path& folder, const SmartmoeLogs& logs,
                       std::ostream& out, const FileProgress& progress = {});

}  // namespace assay::data
