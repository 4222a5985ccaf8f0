// What identifies a series in every file that has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {

/// The columns of the table series after its id, in the order of the schema. StoreError for an axis
/// value that is not finite.
std::vector<std::string> series_columns(const SeriesKey&);

/// Derived from those columns, so that files of several machines agree about it.
std::string series_id(const std::vector<std::string>& columns);

/// A UUID (version 8) that depends on the text alone: equal texts have equal ids everywhere.
std::string derived_uuid(std::string_view text);

}  // namespace assay::store
