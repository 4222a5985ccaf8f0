// One line of SmartMoE's routing logs: "7:[[114.0, 121.0, …], [107.0, …], …]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "suite/data/catalog.hpp"

namespace assay::data {

struct SmartmoeLine {
    std::size_t layer = 0;
    std::vector<std::uint64_t> counts;  ///< tokens [micro_batches][experts]
};

/// Reads a line (without its end) into `into`, whose storage is used again. Throws DataError
/// "column N: …": not this form, another number of micro-batches or experts than `logs` has, a
/// layer that it has not, a count that is negative, fractional or not finite, a list whose sum is
/// not logs.tokens.
void parse_smartmoe_line(std::string_view line, const SmartmoeLogs& logs, SmartmoeLine& into);

}  // namespace assay::data
