// What identifies rows: ids that are drawn, or follow from what a row says; and times as text.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/series.hpp"
#include "suite/store/history.hpp"

namespace assay::store {

/// A random UUID (version 4).
std::string new_uuid();

/// The same, but beginning with the first two digits of `other`: a sample's id begins as its
/// session's. Tables are in the order of their ids, so that the samples of one session lie on
/// neighbouring pages instead of all over a file of a million samples. Six more digits tell them
/// apart when a person types eight. What was imported from other formats, and so got its id from
/// its content, lies as it happens to.
std::string new_uuid_beside(std::string_view other);

/// A UUID (version 8) that depends on the text alone: equal texts have equal ids everywhere.
std::string derived_uuid(std::string_view text);

/// Written as either of them is, in lower case.
bool is_uuid(std::string_view text);

/// The columns of the table series after its id, in the order of the schema. StoreError for an axis
/// value that is not finite.
std::vector<std::string> series_columns(const SeriesKey&);
/// Derived from those columns, so that files of several machines agree about it.
std::string series_id(const std::vector<std::string>& columns);

/// What people, comparisons and the gate call a series, and one of its numbers: it without
/// hardware, calibration and data.
RowId row_id(const SeriesKey&, const MetricKey& = {});

/// The columns of the table gate_row after its id, in the order of the schema. StoreError for an
/// axis value or a label that is not finite.
std::vector<std::string> gate_row_columns(const RowId&);
/// Derived from those columns.
std::string gate_row_id(const std::vector<std::string>& columns);

/// ISO 8601, UTC, milliseconds: "2026-11-21T02:03:04.567Z"; text order is time order.
std::string utc(std::chrono::system_clock::time_point at);
/// Now; where the clock was set back, just after `newest`: among themselves such times are in the
/// order in which they were written.
std::string utc_after(std::string_view newest);
/// "is dated 2031-01-01 02:03, in the future: …"; empty: it is not, or only by as much as clocks
/// differ, or is written in another way than utc() does.
std::string future_words(std::string_view date);
/// Reads that back; nullopt: written otherwise, or no day or time that there is.
std::optional<std::chrono::system_clock::time_point> parse_utc(std::string_view text);

}  // namespace assay::store
