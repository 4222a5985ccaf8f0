// How values and rows of the suite look in columns, and back. Reading throws std::invalid_argument
// or nlohmann::json::exception on what this program cannot have written.
#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/series.hpp"
#include "suite/store/records.hpp"

namespace assay::store {

/// Members in name order, no white space; bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::json&);
/// StoreError when a value is not finite: it could not be found again.
std::string canonical(const Case&);
Case case_from_text(const std::string& canonical);

/// Little-endian IEEE 754.
std::string blob_of(std::span<const double>);
std::vector<double> doubles_of(std::string_view blob);

double real_or_nan(const SQLite::Column&);
std::optional<double> optional_real(const SQLite::Column&);
std::string text_or_empty(const SQLite::Column&);
Value cell(const SQLite::Column&);

void bind_optional(SQLite::Statement&, int index, std::optional<double>);
void bind_text(SQLite::Statement&, int index, std::string_view);
void bind_text_or_null(SQLite::Statement&, int index, std::string_view);  ///< empty: NULL
void bind_blob(SQLite::Statement&, int index, std::string_view);
void bind_cell(SQLite::Statement&, int index, const Value&);

/// The host of a session (host_of()) in a SELECT from the table.
inline constexpr const char* host_of_session =
    "coalesce(json_extract(suspects, '$.host'), json_extract(suspects, '$.host_name'), '')";

bool is_final_status(std::string_view status);  ///< a SampleStatus other than running
SampleSpec spec_from_text(const std::string&);
/// Of a row whose first columns are those of the table series after its id, in their order.
SeriesKey series_at(const SQLite::Statement& row);

/// Stores the identities of the gate's rows.
class GateRows {
  public:
    /// The database must outlive it.
    explicit GateRows(SQLite::Database& sql) : sql_(sql) {}
    /// Stores it where it is new; others refer to it by its id, which it returns (gate_row_id() of
    /// ids.hpp).
    std::string put(const RowId&);

  private:
    SQLite::Database& sql_;
    std::optional<SQLite::Statement> insert_;  // prepared by the first
};

/// The columns for a SELECT, and the identity in them, from column `first` on.
inline constexpr const char* gate_row_fields =
    "gate_row.experiment, gate_row.variant, gate_row.axes, gate_row.profile, gate_row.provenance, "
    "gate_row.scenario, gate_row.metric, gate_row.labels";
inline constexpr int gate_row_field_count = 8;
RowId gate_row_at(const SQLite::Statement&, int first);

}  // namespace assay::store
