// Reads rows of the table sample and what hangs on them.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {

/// Samples whose ids the query `selection` (a SELECT of one column, with one '?' for `parameter`)
/// yields, with their metrics and events, ordered by `order` (columns of sample and series).
std::vector<Sample> read_samples(SQLite::Database&, const std::string& selection,
                                 std::string_view parameter, std::string_view order);

/// Curves, tables, artifacts and hardware readings.
void read_rest(SQLite::Database&, Sample&);

}  // namespace assay::store
