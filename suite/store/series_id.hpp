// What identifies a series in every file that has it, and in every report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/row_id.hpp"
#include "suite/store/history.hpp"

namespace assay::store {

/// The columns of the table series after its id, in the order of the schema. StoreError for an axis
/// value that is not finite.
std::vector<std::string> series_columns(const SeriesKey&);

/// What people, comparisons and the gate call it, and one of its numbers: it without hardware,
/// calibration and data.
RowId row_id(const SeriesKey&, const MetricKey& = {});

/// Derived from those columns, so that files of several machines agree about it.
std::string series_id(const std::vector<std::string>& columns);

/// A UUID (version 8) that depends on the text alone: equal texts have equal ids everywhere.
std::string derived_uuid(std::string_view text);

}  // namespace assay::store
