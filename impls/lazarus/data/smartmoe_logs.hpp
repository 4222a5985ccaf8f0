// Expert loads as data of the catalogue (suite/data/catalog.hpp): their format, and the routing
// logs of SmartMoE's artifact that are summed into it: files `table_iter{I}_rank{R}.log`, in each a
// line per layer, in each of those a list of tokens per expert for every micro-batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "suite/data/catalog.hpp"
#include "suite/experiment/system.hpp"

namespace assay::lazarus {

/// The format of that name: CSV, iteration,layer,e0,e1,…: tokens per expert.
inline constexpr const char* expert_loads = "expert_loads";

/// Takes what RoutingTrace::parse() reads, which is what experiments do. Throws DataError.
void check_expert_loads(std::istream& in);

/// What a folder of such logs holds.
struct SmartmoeLogs {
    std::int64_t first_iteration = 0, last_iteration = 0, iteration_step = 1;
    std::size_t ranks = 0, layers = 0, micro_batches = 0, experts = 0;
    std::uint64_t tokens = 0;  ///< the sum of every list: tokens of a micro-batch times top-k
};

/// As the catalogue says of an entry's folder. Throws DataError for numbers that are missing,
/// unknown or cannot be, and for an entry of another format than expert_loads.
SmartmoeLogs smartmoe_logs_of(const data::Entry& entry);

/// Writes CSV, `iteration,layer,e0,e1,…`, ascending: for every iteration and layer the tokens of
/// each expert, summed over ranks and micro-batches. One file is held at a time. Whether `out` took
/// it all is for the caller to check. Throws DataError that names the folder, or file and line: a
/// log that is missing or of another iteration or rank, a layer that is missing or there twice, a
/// line that parse_smartmoe_line() refuses. Files with other names do not matter. `progress` hears
/// of every file that has been read.
void sum_smartmoe_logs(const std::filesystem::path& folder, const SmartmoeLogs& logs,
                       std::ostream& out, const FileProgress& progress = {});

/// The converter "smartmoe_logs" of the catalogue of data.
void convert_smartmoe_logs(const data::Entry& entry, const std::filesystem::path& folder,
                           std::ostream& out, const FileProgress& progress);

/// One line of a log: "7:[[114.0, 121.0, …], [107.0, …], …]".
struct SmartmoeLine {
    std::size_t layer = 0;
    std::vector<std::uint64_t> counts;  ///< tokens [micro_batches][experts]
};

/// Reads a line (without its end) into `into`, whose storage is used again. Throws DataError
/// "column N: …": not this form, another number of micro-batches or experts than `logs` has, a
/// layer that it has not, a count that is negative, fractional or not finite, a list whose sum is
/// not logs.tokens.
void parse_smartmoe_line(std::string_view line, const SmartmoeLogs& logs, SmartmoeLine& into);

}  // namespace assay::lazarus
