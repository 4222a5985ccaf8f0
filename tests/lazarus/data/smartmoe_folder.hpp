// Folders of routing logs in SmartMoE's form, made from the sums that an importer must find.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "impls/lazarus/data/smartmoe_logs.hpp"

namespace assay::lazarus {

using LoadRow = std::vector<std::uint64_t>;  ///< tokens [experts] of one iteration and layer

/// One line of a log, as SmartMoE prints it: "0:[[177.0, 105.0], [189.0, 96.0]]". `lists`:
/// [micro_batches][experts].
std::string smartmoe_line(std::size_t layer, const std::vector<LoadRow>& lists);

/// Random rows [iterations × layers]; each adds up to logs.ranks · micro_batches · tokens.
std::vector<LoadRow> random_loads(const SmartmoeLogs& logs, std::uint64_t seed);

/// Every log of `logs`, with rows split at random over ranks and micro-batches so that each list
/// adds up to logs.tokens; the folder must exist.
void write_smartmoe_folder(const std::filesystem::path& folder, const SmartmoeLogs& logs,
                           const std::vector<LoadRow>& rows, std::uint64_t seed);

/// The CSV of the rows: iteration,layer,e0,e1,…
std::string loads_csv(const SmartmoeLogs& logs, const std::vector<LoadRow>& rows);

}  // namespace assay::lazarus
